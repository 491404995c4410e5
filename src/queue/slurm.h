#pragma once

#include "queue/sweep.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sweep::queue {

// What the two batch scripts of an array say.
struct SlurmJob {
  std::filesystem::path program;  // absolute
  std::filesystem::path config;   // absolute
  std::filesystem::path run;      // absolute; logs lie in run/slurm
  std::string name;               // of the run
  std::int64_t tasks = 1;
  double lease_s = 120;
  bool gpu = true;
  std::int64_t warn_s = 120;           // before the time limit a task is asked to end
  std::vector<std::string> arguments;  // of `sweep CONFIG` besides
  std::string on_finish;               // [run] on_finish
};

// One array task is one process of the run with one GPU. SIGTERM (preemption, scancel) ends it in
// time; near its time limit it ends itself and goes back to the queue.
[[nodiscard]] std::string array_script(const SlurmJob& job);

// The job that depends on the array's end: joins the tasks' chains and builds the report.
[[nodiscard]] std::string join_script(const SlurmJob& job);

// `text` as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(const std::string& text);

struct SubmitOptions {
  SweepOptions sweep;
  std::int64_t tasks = 0;  // 0: as many as [parallelism] num_gpu_devices, at most the items
  double lease_s = 120;
  std::vector<std::string> site;  // for sbatch, untouched, behind ours
  bool print = false;             // write the scripts to standard output and do nothing else
};

// Writes and submits the array and the job that joins it. Exit code: 0; 3 when sbatch refused.
// UsageError for all that `sweep CONFIG.toml` refuses before it starts, but for devices; for more
// tasks than a limit can be divided into; E_RUN_BUSY while tasks work on the run.
[[nodiscard]] int submit(const SubmitOptions& options, const Installation& installation);

}  // namespace sweep::queue
