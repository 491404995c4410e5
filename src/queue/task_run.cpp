#include "queue/task_run.h"

#include "queue/needs.h"
#include "queue/share.h"
#include "record/chains.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <iostream>
#include <map>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

// One array task has one GPU, which Slurm shows it as the first.
std::vector<Lane> lane_of(const Session& s) {
  const config::Run& run = s.plan.config.run;
  return lanes(s.installation.program, run.device == "cpu" ? "cpu" : "cuda", 1, run.require_gpu);
}

void check_needs(const Session& s, const Lane& lane) {
  check_scripts(s.plan, s.installation);
  if (const auto missing =
          missing_disassembler(s.plan, s.installation, profile::default_search())) {
    throw util::UsageError(*missing, "E_ISA_TOOL");
  }
  check_machine(lane, s.plan.config.run.nvcc, s.options.allow_unsandboxed);
}

// The root, where all chains are sound: what a broken one says was done would be paid for again.
record::Verification root_of(const record::RunDir& run) {
  record::Chains chains = record::read_chains(run);
  if (!chains.root.intact || !chains.problems.empty() || !identity_of(chains.root.read)) {
    const std::string problem = chains.problem();
    throw util::InfraError({run.folder().string(),
                            problem.empty() ? "the last row of ledger.jsonl is not whole" : problem,
                            "see `sweep verify`; `sweep join` mends a last row"},
                           "E_LEDGER_BROKEN");
  }
  return std::move(chains.root);
}

// Says what this task did; the table is that of the report.
int finish_task(const std::string& task,
                const Stopped& stopped,
                const std::vector<record::Row>& rows) {
  std::map<std::string, std::size_t> outcomes;
  for (const record::Row& row : rows) {
    const auto outcome = row.data.find("outcome");
    if (row.kind == record::kind::item_end && outcome != row.data.end()) {
      ++outcomes[outcome->get<std::string>()];
    }
  }
  std::string line;
  std::size_t ended = 0;
  for (const auto& [outcome, count] : outcomes) {
    line += fmt::format("{}{} {}", line.empty() ? ": " : ", ", count, outcome);
    ended += count;
  }
  std::cout << fmt::format("task {}: {} item{} ended here{}{}\n",
                           task,
                           ended,
                           ended == 1 ? "" : "s",
                           line,
                           stopped.text.empty() ? "" : "; " + util::printable(stopped.text));
  const bool infra = outcomes.contains("infra_error");
  return stopped.kind == "interrupted" ? 130 : infra || !stopped.kind.empty() ? 3 : 0;
}

}  // namespace

int run_task(const Session& s) {
  const std::vector<Lane> devices = lane_of(s);
  check_needs(s, devices.front());
  s.run.create();
  const record::RunLock lock(s.run, true);
  const config::Conditions conditions =
      conditions_of(s.plan, s.installation, devices.front().info.name);
  util::RealClock clock;
  Share share(s.run, *s.options.task, clock);
  if (share.stop_asked() != record::StopAsked::no) {
    std::cerr << "task " << share.task() << ": the run was stopped with `sweep stop`\n";
    return 130;
  }
  begin_root(s.plan, conditions, s.run, s.installation.version);
  const record::Verification root = root_of(s.run);
  const bool drifted = check_drift(s.plan, conditions, s.run, root.read, s.options.accept_drift);
  nlohmann::json data = start_data(s.plan, conditions, s.run, s.installation.version);
  data["gpu"] = devices.front().info.name;
  data["drift"] = drifted;
  share.begin(root, std::move(data));
  std::vector<Task> tasks = tasks_of(s.plan, s.run, share.before(), s.options.retry);
  Stopped stopped;
  if (!pending_of(tasks).empty()) {
    stopped = drive(s, devices, share.ledger(), std::move(tasks), share.before(), &share);
  }
  return finish_task(share.task(), stopped, share.ledger().rows());
}

}  // namespace sweep::queue
