#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "queue/import.h"
#include "record/run_dir.h"
#include "report/build.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

int run_import(const std::vector<std::string>& arguments) {
  std::string source;
  std::string name;
  std::string runs = "runs";
  GlobalOptions global;
  CLI::App app{
      "Copies the trajectories of a PopcornBench run into a run of their own, to be read in the "
      "same "
      "pages. They are marked as foreign: their numbers count in no rate, mean or comparison. Exit "
      "code 3 if files were refused.",
      "sweep import"};
  app.add_option("DIR", source, "PopcornBench's run folder")->required();
  app.add_option("--run-name", name, "name of the new run")->required();
  app.add_option("--runs-dir", runs, "folder of runs")->capture_default_str();
  add_global_options(app, global);
  parse(app, arguments);
  if (name.empty()) {
    throw util::UsageError({"--run-name", "is empty", "name the new run"}, "E_IMPORT_OUT");
  }
  const record::RunDir run(std::filesystem::path(runs) / record::encode_part(name));
  const queue::Imported imported = queue::import_run(source, run, SWEEP_VERSION);
  const std::string index = report::build(run).index.string();
  for (const std::string& refused : imported.refused) {
    std::cerr << "sweep: " << util::printable(refused) << '\n';
  }
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"run", run.folder().string()},
                                {"trajectories", imported.trajectories},
                                {"refused", imported.refused},
                                {"report", index}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << fmt::format("{} foreign trajector{} imported, {} refused\n{}\n",
                             imported.trajectories,
                             imported.trajectories == 1 ? "y" : "ies",
                             imported.refused.size(),
                             util::printable(index));
  }
  return imported.refused.empty() ? kDone : kInfra;
}

}  // namespace sweep::cli
