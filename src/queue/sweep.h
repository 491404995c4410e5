#pragma once

#include "config/config.h"
#include "config/matrix.h"
#include "evaluate/evaluation.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

enum class Retry { none, errors, timeouts, all };

// One of several processes, on one machine or many, that work on one run (docs/slurm.md).
struct TaskOptions {
  std::string task;        // record::is_task_name
  std::int64_t tasks = 1;  // that share budget and limits; >= 1
  double lease_s = 120;    // after so many seconds without a sign of life others take its items
};

// What `sweep CONFIG.toml` was asked to do.
struct SweepOptions {
  std::filesystem::path config;
  bool dry_run = false;
  std::string only;  // glob over "level1/3", or over item ids "variant/model/level1/3"; empty: all
  Retry retry = Retry::none;
  std::string run_name;  // replaces [run] name; empty: as configured
  bool accept_drift = false;
  bool json = false;
  bool quiet = false;
  bool summary = true;  // false: neither table nor document at the end; the caller prints its own
  bool allow_unsandboxed = false;
  bool allow_remote = false;
  bool assume_yes = false;            // do not ask when [run] confirm_usd is exceeded
  std::optional<TaskOptions> task{};  // unset: the only process that works on the run
};

// Where the program and its data lie, and what the catalogue holds.
struct Installation {
  std::filesystem::path program;
  std::filesystem::path data;  // folder with problems/, seeds/ and configs/
  evaluate::Services evaluation;
  std::vector<config::KnownProblem> problems;
  std::map<std::string, std::filesystem::path> folders;  // of ready problems, by id
  std::string version;
  std::string commit;  // of the source, "-dirty" if it was changed; empty: not known
};

// Runs or resumes a sweep to its end and returns the exit code: 0 done, 3 infra errors remain, 130
// interrupted (the same command resumes). Throws util::UsageError for a configuration, key, device
// or drift that the user must mend, before anything is written; util::InfraError when the run's
// folder cannot be written (finished items stay as they are).
// A dry run: 0, or 2 when a start would be refused for want of a key or a device.
[[nodiscard]] int run_sweep(const SweepOptions& options, const Installation& installation);

}  // namespace sweep::queue
