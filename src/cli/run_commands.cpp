#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "record/run_dir.h"
#include "report/build.h"
#include "report/exports.h"
#include "util/error.h"
#include "util/heap.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

// Commands on a finished or running run's folder.
namespace sweep::cli {

namespace fs = std::filesystem;

record::RunDir open_run(const std::string& name) {
  for (const fs::path& folder : {fs::path(name), fs::path("runs") / name}) {
    record::RunDir run(folder);
    std::error_code error;
    if (fs::is_regular_file(run.ledger_file(), error)) {
      return run;
    }
  }
  std::error_code error;
  throw util::UsageError(
      {util::printable(name.substr(0, 200)),
       fs::is_directory(name, error) ? "holds no run: it has no ledger.jsonl" : "no such run",
       "give a run's folder, e.g. runs/demo"},
      "E_RUN_MISSING");
}

namespace {

struct ReportOptions {
  std::vector<std::string> names;
  std::string page, exports;  // page: of the old spelling of `sweep compare`
  GlobalOptions global;
};

// Runs were once compared by this command.
void refuse_comparison(const ReportOptions& options) {
  if (options.names.size() > 1 || !options.page.empty()) {
    std::string next = "sweep compare";
    for (const std::string& name : options.names) {
      next += " " + util::printable(name);
    }
    throw util::UsageError({"sweep report",
                            options.page.empty() ? "makes the pages of one run"
                                                 : "has no --page: it is that of a comparison",
                            "runs are compared by `" + next + " ...`"},
                           "E_REPORT_RUNS");
  }
}

// The tables of a run as files; the number of files.
std::size_t export_run(const record::RunDir& run,
                       const report::Built& built,
                       const fs::path& folder) {
  report::RowPointers pointers;
  for (const report::Row& row : built.rows) {
    pointers.push_back(&row);
  }
  const report::Source source = report::source_of(run.folder().filename().string(), built);
  return report::write_exports(folder, source, pointers).size();
}

int report_one(const ReportOptions& options) {
  const record::RunDir run = open_run(options.names.front());
  const report::Built built = report::build(run);
  const fs::path folder =
      options.exports.empty() ? run.report_folder() / "data" : fs::path(options.exports);
  const std::size_t files = export_run(run, built, folder);
  for (const std::string& file : built.unreadable) {
    std::cerr << "sweep: " << util::printable(file) << '\n';
  }
  if (options.global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"index", built.index.string()},
                                {"written", built.pages},
                                {"unchanged", built.unchanged},
                                {"unreadable", built.unreadable},
                                {"exports", folder.string()},
                                {"exported", files}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << built.index.string()
              << fmt::format("  ({} pages written, {} unchanged)\n", built.pages, built.unchanged)
              << folder.string()
              << fmt::format("  ({} files: every table as CSV, JSON, Markdown and LaTeX)\n", files);
  }
  return built.unreadable.empty() ? kDone : kInfra;
}

}  // namespace

int run_report(const std::vector<std::string>& arguments) {
  ReportOptions options;
  CLI::App app{
      "Builds the static pages of a run; they open from disk. Its tables are written as CSV, JSON, "
      "Markdown and LaTeX into report/data, with summary.html, one file to send.",
      "sweep report"};
  app.add_option("RUN", options.names, "run folder or name")->required();
  app.add_option(
      "--page", options.page, "of two or more runs: write the comparison as a page in this folder");
  app.add_option("--export", options.exports, "write the tables into this folder instead");
  add_global_options(app, options.global);
  parse(app, arguments);
  refuse_comparison(options);
  constexpr std::size_t kHeap = std::size_t{256} << 20U;  // of a run of 10,000 items
  util::expect_much_memory(kHeap);
  return report_one(options);
}

}  // namespace sweep::cli
