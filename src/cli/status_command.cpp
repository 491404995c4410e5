#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/status_view.h"
#include "queue/join.h"
#include "queue/status.h"
#include "queue/stop_run.h"
#include "record/claims.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

// What another terminal may do with a run: look at it, end it.
namespace sweep::cli {

int run_status(const std::vector<std::string>& arguments) {
  std::string name;
  GlobalOptions global;
  CLI::App app{
      "Says where a run stands, also while it runs: items, outcomes, tokens and cost by model, and "
      "what is in work. Reads the ledger and changes nothing. Exit code: 0, or 3 if the ledger is "
      "broken.",
      "sweep status"};
  app.add_option("RUN", name, "run folder or name")->required();
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  const queue::RunStatus status = queue::status_of(run);
  if (global.json) {
    std::cout
        << queue::to_json(status, run).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
        << '\n';
  } else {
    std::cout << status_text(
        status, run, util::RealClock().wall(), Style::for_stdout(), output_columns());
  }
  return status.problem.empty() ? kDone : kInfra;
}

namespace {

// Ends the tasks of an array, on whatever machines: they look for our word.
int stop_tasks(const record::RunDir& run, bool now, double seconds, const GlobalOptions& global) {
  const std::vector<std::string> asked = queue::tasks_at_work(run);
  record::ask_stop(run.claims_folder(), now);
  if (!asked.empty() && !global.quiet && !global.json) {
    std::cerr << fmt::format(
        "sweep: asked {} task{} to stop\n", asked.size(), asked.size() == 1 ? "" : "s");
  }
  util::RealClock clock;
  const std::vector<std::string> left = queue::wait_for_tasks(run, seconds, clock);
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"run", run.folder().string()},
                                {"holder", ""},
                                {"asked", !asked.empty()},
                                {"tasks", asked},
                                {"left", left},
                                {"ended", left.empty()}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else if (left.empty()) {
    std::cout
        << util::printable(run.folder().string())
        << ": stopped; tasks that begin later end at once, until `sweep join` or `sweep submit`\n";
  } else {
    std::cout << fmt::format("{}: {} of {} tasks still at work after {}\n",
                             util::printable(run.folder().string()),
                             left.size(),
                             asked.size(),
                             util::human_seconds(seconds));
  }
  return left.empty() ? kDone : kInfra;
}

}  // namespace

int run_stop(const std::vector<std::string>& arguments) {
  std::string name;
  bool now = false;
  double seconds = 120;
  GlobalOptions global;
  CLI::App app{
      "Ends the sweep that works on a run, as Ctrl-C does: no further item begins, those in work "
      "stay as they are after their current step, and the same sweep goes on later. Exit code: 0 "
      "when nothing works on the run any more, 3 when it still does after --wait.",
      "sweep stop"};
  app.add_option("RUN", name, "run folder or name")->required();
  app.add_flag("--now", now, "do not wait for the current steps: ask twice, as a second Ctrl-C");
  app.add_option("--wait", seconds, "seconds to wait for its end")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  std::error_code error;
  if (std::filesystem::exists(run.claims_folder(), error)) {
    return stop_tasks(run, now, seconds, global);
  }
  const queue::RunProcess process(run);
  process.terminate();
  // Two that come at once would be one.
  constexpr double kBetween = 0.5;
  if (now && !process.wait(kBetween)) {
    process.terminate();
  }
  if (process.exists() && !global.quiet && !global.json) {
    std::cerr << "sweep: asked " << util::printable(process.holder()) << " to stop\n";
  }
  const bool ended = process.wait(seconds);
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"run", run.folder().string()},
                                {"holder", process.holder()},
                                {"asked", process.exists()},
                                {"ended", ended}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else if (!process.exists()) {
    std::cout << "nothing works on " << util::printable(run.folder().string()) << '\n';
  } else if (ended) {
    std::cout << util::printable(run.folder().string())
              << ": stopped; the same sweep goes on where it was\n";
  } else {
    std::cout << fmt::format(
        "{}: still at work after {}; `sweep status` shows on what, `sweep stop --now` does not "
        "wait for it\n",
        util::printable(run.folder().string()),
        util::human_seconds(seconds));
  }
  return ended ? kDone : kInfra;
}

}  // namespace sweep::cli
