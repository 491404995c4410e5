#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "queue/join.h"
#include "queue/on_finish.h"
#include "queue/status.h"
#include "report/build.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

struct Result {
  queue::Joined joined;
  queue::RunStatus status;
  std::string index;
};

void print(const record::RunDir& run, const Result& result, bool json) {
  if (json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"run", run.folder().string()},
                                {"chains", result.joined.chains},
                                {"results", result.joined.results},
                                {"refused", result.joined.refused},
                                {"items", result.status.items},
                                {"ended", result.status.ended},
                                {"outcomes", result.status.outcomes},
                                {"report", result.index}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
    return;
  }
  std::cout << fmt::format("{} chain{} joined; {} of {} items have ended\n{}\n",
                           result.joined.chains,
                           result.joined.chains == 1 ? "" : "s",
                           result.status.ended,
                           result.status.items,
                           util::printable(result.index));
}

}  // namespace

int run_join(const std::vector<std::string>& arguments) {
  std::string name;
  std::string on_finish;
  double seconds = 180;
  GlobalOptions global;
  CLI::App app{
      "Ends what the tasks of an array left: waits for their leases, puts the results that count "
      "in "
      "their places, appends each task's chain to the run's ledger and builds the report. The job "
      "that `sweep submit` makes does it. Exit code 3 while items are left.",
      "sweep join"};
  app.add_option("RUN", name, "run folder or name")->required();
  app.add_option("--wait", seconds, "seconds to wait for tasks that are at work")
      ->check(CLI::Range(0.0, 604800.0))
      ->capture_default_str();
  app.add_option("--on-finish", on_finish, "program to start at the end, as [run] on_finish");
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  util::RealClock clock;
  queue::require_none(run, queue::wait_for_tasks(run, seconds, clock));
  Result result;
  {
    const record::RunLock lock(run);
    result.joined = queue::join_tasks(run);
  }
  for (const std::string& refused : result.joined.refused) {
    std::cerr << "sweep: " << util::printable(refused)
              << "; it does not count, see `sweep verify`\n";
  }
  result.status = queue::status_of(run);
  result.index = report::build(run).index.string();
  print(run, result, global.json);
  const bool infra = result.status.outcomes.contains("infra_error");
  const int code = infra || result.status.ended < result.status.items ? kInfra : kDone;
  const std::string failure = queue::run_on_finish(on_finish, run.folder(), code);
  if (!failure.empty()) {
    std::cerr << failure << '\n';
  }
  return code;
}

}  // namespace sweep::cli
