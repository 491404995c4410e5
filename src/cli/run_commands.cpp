#include "agent/recompute.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/style.h"
#include "record/ledger.h"
#include "record/run_dir.h"
#include "record/verify.h"
#include "report/build.h"
#include "report/compare.h"
#include "report/exports.h"
#include "util/error.h"
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

int run_verify(const std::vector<std::string>& arguments) {
  std::string name;
  GlobalOptions global;
  CLI::App app{
      "Checks a run against its ledger (hash chain, artifacts, finished trajectories) and "
      "computes its results again from the raw samples.",
      "sweep verify"};
  app.add_option("RUN", name, "run folder or name")->required();
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  record::RunVerification checked = record::verify_run(run);
  const agent::Recomputed again = agent::recompute(run);
  checked.broken.insert(checked.broken.end(), again.findings.begin(), again.findings.end());
  const bool good = checked.intact();
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"intact", good},
                                {"rows", checked.ledger.rows},
                                {"head", checked.ledger.head},
                                {"problem", checked.ledger.problem},
                                {"artifacts", checked.artifacts},
                                {"trajectories", checked.trajectories},
                                {"kernels", checked.kernels},
                                {"results", again.results},
                                {"broken", checked.broken}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    const Style style = Style::for_stdout();
    std::cout << fmt::format(
        "{} rows, {} artifacts, {} finished trajectories, {} kernels, {} results computed again, "
        "head {}\n",
        checked.ledger.rows,
        checked.artifacts,
        checked.trajectories,
        checked.kernels,
        again.results,
        checked.ledger.head);
    if (!checked.ledger.problem.empty()) {
      std::cout << style.bad("broken ") << util::printable(checked.ledger.problem) << '\n';
    }
    for (const std::string& broken : checked.broken) {
      std::cout << style.bad("broken ") << util::printable(broken) << '\n';
    }
    std::cout << (good ? style.good("intact") : style.bad("NOT intact")) << '\n';
  }
  return good ? kDone : kInfra;
}

namespace {

int compare_runs(const std::vector<std::string>& names, const std::string& page, bool json) {
  std::vector<record::RunDir> runs;
  for (const std::string& name : names) {
    runs.push_back(open_run(name));
  }
  const report::Comparison comparison = report::compare(runs);
  std::cout << (json ? report::to_json(comparison)
                               .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                           "\n"
                     : report::text(comparison));
  if (!page.empty()) {
    const fs::path written = report::write_comparison(runs, comparison, page);
    (json ? std::cerr : std::cout) << written.string() << '\n';
  }
  return kDone;
}

}  // namespace

namespace {

struct ReportOptions {
  std::vector<std::string> names;
  std::string page, exports;
  GlobalOptions global;
};

void refuse_page(const std::string& page) {
  if (!page.empty()) {
    throw util::UsageError({"--page " + page,
                            "is the page of a comparison, and there is one run",
                            "name two or more runs; the pages of one lie in its report folder"},
                           "E_COMPARE_OUT");
  }
}

// The tables of a run as files; the number of files.
std::size_t export_run(const record::RunDir& run,
                       const std::vector<report::Row>& rows,
                       const fs::path& folder) {
  report::RowPointers pointers;
  for (const report::Row& row : rows) {
    pointers.push_back(&row);
  }
  return report::write_exports(
             folder, report::source_of(run, pointers), pointers, report::run_tables(pointers))
      .size();
}

int report_one(const ReportOptions& options) {
  refuse_page(options.page);
  const record::RunDir run = open_run(options.names.front());
  const report::Built built = report::build(run);
  const fs::path folder =
      options.exports.empty() ? run.report_folder() / "data" : fs::path(options.exports);
  const std::size_t files = export_run(run, built.rows, folder);
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
      "Markdown and LaTeX into report/data, with summary.html, one file to send. Several runs are "
      "compared on the terminal instead, and with --page on a page as well.",
      "sweep report"};
  app.add_option("RUN", options.names, "run folder or name; two or more: compared")->required();
  app.add_option(
      "--page", options.page, "of two or more runs: write the comparison as a page in this folder");
  app.add_option("--export", options.exports, "write the tables into this folder instead");
  add_global_options(app, options.global);
  parse(app, arguments);
  if (options.names.size() > 1) {
    return compare_runs(options.names, options.page, options.global.json);
  }
  return report_one(options);
}

}  // namespace sweep::cli
