#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "queue/slurm.h"
#include "util/error.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace sweep::cli {

namespace {

constexpr std::int64_t kMostTasks = 1000;

queue::Retry retry_of(const std::string& word) {
  return word == "errors"     ? queue::Retry::errors
         : word == "timeouts" ? queue::Retry::timeouts
         : word == "all"      ? queue::Retry::all
                              : queue::Retry::none;
}

void add_options(CLI::App& app, queue::SubmitOptions& options, std::string& retry) {
  app.add_option("--tasks",
                 options.tasks,
                 "tasks of the array, one GPU each; default: [parallelism] num_gpu_devices, at "
                 "most one an item")
      ->check(CLI::Range(std::int64_t{1}, kMostTasks));
  app.add_option("--lease",
                 options.lease_s,
                 "seconds without a sign of life after which other tasks take a task's items")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_flag("--print", options.print, "write the batch scripts to standard output; submit none");
  app.add_option("--sbatch", options.site, "a flag for sbatch, as --sbatch=--partition=gpu");
  app.add_option("--only", options.sweep.only, "as of sweep CONFIG");
  app.add_option("--retry", retry, "as of sweep CONFIG")
      ->check(CLI::IsMember({"errors", "timeouts", "all"}));
  app.add_option("--run-name", options.sweep.run_name, "instead of [run] name");
  app.add_flag("--accept-drift", options.sweep.accept_drift, "as of sweep CONFIG");
  app.add_flag("--yes", options.sweep.assume_yes, "do not ask when [run] confirm_usd is exceeded");
}

}  // namespace

int run_submit(const std::vector<std::string>& arguments) {
  queue::SubmitOptions options;
  std::string file;
  std::string retry;
  bool slurm = false;
  GlobalOptions global;
  CLI::App app{
      "Submits a sweep as a job array of Slurm: each task works on the same run with one GPU, and "
      "a job that depends on the array joins what they leave and builds the report. What stands "
      "after -- goes to sbatch untouched.",
      "sweep submit"};
  app.add_option("CONFIG", file, "sweep configuration (TOML)")->required();
  app.add_flag("--slurm", slurm, "the batch system")->required();
  add_options(app, options, retry);
  add_global_options(app, global);
  const auto dashes = std::ranges::find(arguments, "--");
  parse(app, {arguments.begin(), dashes});
  if (dashes != arguments.end()) {
    options.site.insert(options.site.end(), dashes + 1, arguments.end());
  }
  options.sweep.config = file;
  options.sweep.retry = retry_of(retry);
  options.sweep.json = global.json;
  options.sweep.quiet = global.quiet;
  options.sweep.allow_unsandboxed = global.allow_unsandboxed;
  return queue::submit(options, sweep_installation());
}

}  // namespace sweep::cli
