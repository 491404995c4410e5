#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "report/compare.h"
#include "util/error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

namespace sweep::cli {

int run_compare(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  std::string page;
  GlobalOptions global;
  CLI::App app{
      "Holds runs against each other on the problems that ended in all of them: correct rates, "
      "speedups with intervals, and paired tests of the first run against each other one.",
      "sweep compare"};
  app.add_option("RUN", names, "run folders or names, two or more; the first is the base")
      ->required();
  app.add_option("--page", page, "write the comparison as a page in this folder as well");
  add_global_options(app, global);
  parse(app, arguments);
  if (names.size() < 2) {
    throw util::UsageError({"sweep compare",
                            "one run is named, and a comparison needs two",
                            "name the runs, the base first: sweep compare BASE OTHER"},
                           "E_COMPARE_RUNS");
  }
  std::vector<record::RunDir> runs;
  for (const std::string& name : names) {
    runs.push_back(open_run(name));
  }
  const report::Comparison comparison = report::compare(runs);
  std::cout << (global.json
                    ? report::to_json(comparison)
                              .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                          "\n"
                    : report::text(comparison));
  if (!page.empty()) {
    const std::filesystem::path written = report::write_comparison(runs, comparison, page);
    (global.json ? std::cerr : std::cout) << written.string() << '\n';
  }
  return kDone;
}

}  // namespace sweep::cli
