#pragma once

#include "config/config.h"
#include "config/drift.h"
#include "config/matrix.h"
#include "queue/devices.h"
#include "queue/resume.h"
#include "queue/sweep.h"
#include "record/ledger.h"
#include "record/run_dir.h"
#include "util/error.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sweep::queue {

// A configuration read and expanded; nothing of the run's folder is touched.
struct Plan {
  config::SweepConfig config;
  std::string toml;  // its text
  std::vector<config::Diagnostic> warnings;
  config::Matrix matrix;
  std::vector<config::WorkItem>
      chosen;  // ready items that --only lets through, in the matrix's order
};

// UsageError for everything that is wrong with the file, its problems or --only.
[[nodiscard]] Plan make_plan(const SweepOptions& options, const Installation& installation);

// One for each model whose key variable is not set: the model, the variable and how many items need
// it.
[[nodiscard]] std::vector<util::Message> missing_keys(const Plan& plan);

// UsageError E_KEY_MISSING with the first of them, or E_KEY_VALUE with the first key that cannot be
// sent.
void check_keys(const Plan& plan);

// What a start would be refused for, though the file is right.
struct Lacking {
  std::vector<std::string> texts;    // for people; empty: nothing
  std::set<std::string> keyless;     // models without a key that can be sent
  std::set<std::string> unusable;    // of these, models whose key variable is set
  std::set<std::string> scriptless;  // built-in models that no script plays
  bool device = false;               // the device, or a tool for it, is not there or cannot be used

  [[nodiscard]] bool hinders(const config::WorkItem& item) const {
    return device || keyless.contains(item.model) || scriptless.contains(item.model);
  }
};

// Asks a child process for the devices.
[[nodiscard]] Lacking lacks(const Plan& plan, const Installation& installation);

// Before anything is paid for: whether code can be compiled for the device and run in a sandbox.
// UsageError E_COMPILE_TOOLCHAIN, InfraError E_SANDBOX.
void check_machine(const Lane& lane, bool nvcc, bool allow_unsandboxed);

// What must stay the same for a run to be continued; `gpu` is the device's name.
[[nodiscard]] config::Conditions conditions_of(const Plan& plan,
                                               const Installation& installation,
                                               const std::string& gpu);

// One item of a run and what is to be done with it.
struct Task {
  config::WorkItem item;
  Action action = Action::run;
  std::string outcome;  // of an earlier process, or empty
};

// What is to be done with each chosen item, by the ledger's rows alone: an item whose trajectory
// is missing, or whose end was never recorded, goes on from its finished requests.
[[nodiscard]] std::vector<Task> tasks_of(const Plan& plan,
                                         const record::RunDir& run,
                                         const std::vector<record::Row>& rows,
                                         Retry retry);

// The rows of the run's ledger up to the first problem, those of tasks' chains among them; none
// where it has no ledger. UsageError E_RUN_LEDGER where it has trajectories and no ledger: all of
// them would be paid for again.
[[nodiscard]] record::Verification ledger_of(const record::RunDir& run);

// Those that are not finished, in order.
[[nodiscard]] std::vector<config::WorkItem> pending_of(const std::vector<Task>& tasks);

// UsageError E_RUN_DRIFT with a diff where what decides results is not as when the run began,
// unless `accept_drift`; then whether it is so. `rows`: of its ledger, whose run has begun. Writes
// nothing.
bool check_drift(const Plan& plan,
                 const config::Conditions& conditions,
                 const record::RunDir& run,
                 const std::vector<record::Row>& rows,
                 bool accept_drift);

// What stands in the run's folder beside its items, read without taking its lock or writing.
struct Standing {
  bool begun = false;
  std::string busy;        // the sweep that works on it; empty: none
  std::string drift;       // the changes that going on would refuse, as one line; empty: none
  std::string unreadable;  // why the ledger or the stored configuration cannot be read
};

// The device is not opened: that it is another one is found when the run goes on.
[[nodiscard]] Standing standing_of(const Plan& plan,
                                   const Installation& installation,
                                   const record::RunDir& run);

// What the rows that begin a process say: hashes of identity, items and TOML, whose artifacts are
// stored.
[[nodiscard]] nlohmann::json start_data(const Plan& plan,
                                        const config::Conditions& conditions,
                                        const record::RunDir& run,
                                        const std::string& version);

// Makes the ledger of a run that several tasks share, with its run_start row, unless one of them
// was first.
void begin_root(const Plan& plan,
                const config::Conditions& conditions,
                const record::RunDir& run,
                const std::string& version);

// Appends run_start, or run_resume after comparing identities: refuses a changed configuration with
// a diff (UsageError E_RUN_DRIFT) unless `accept_drift`, which appends a config row. Writes
// sweep_config.json.
void open_run(const Plan& plan,
              const config::Conditions& conditions,
              const record::RunDir& run,
              record::Ledger& ledger,
              bool accept_drift,
              const std::string& version);

}  // namespace sweep::queue
