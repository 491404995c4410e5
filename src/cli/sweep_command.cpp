#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "config/config.h"
#include "queue/sweep.h"
#include "record/chains.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace sweep::cli {

queue::Installation sweep_installation() {
  queue::Installation out;
  out.program = program_path();
  out.data = data_root();
  out.evaluation = evaluation_services();
  out.version = SWEEP_VERSION;
  out.commit = source_commit();
  const problem::Catalog catalog = open_catalog();
  for (const problem::Entry& entry : catalog.entries()) {
    out.problems.push_back({entry.id, entry.title, !entry.planned(), entry.slates});
    if (!entry.planned()) {
      out.folders[entry.id] = entry.folder;
    }
  }
  return out;
}

namespace {

void add_task_options(CLI::App& app, queue::TaskOptions& task) {
  app.add_option("--task",
                 task.task,
                 "work on the run as one of several processes, on any machine that has its folder; "
                 "a name of its own (see docs/slurm.md)");
  app.add_option("--tasks", task.tasks, "with --task: so many share budget and limits")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  app.add_option("--lease",
                 task.lease_s,
                 "with --task: seconds without a sign of life after which others take its items")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
}

void check_task(const queue::TaskOptions& task) {
  if (!record::is_task_name(task.task)) {
    throw util::UsageError({"--task " + util::printable(task.task.substr(0, 100)),
                            "is no name of a task",
                            "give 1 to 80 letters, digits, '_' and '-'"},
                           "E_TASK_NAME");
  }
}

}  // namespace

int run_sweep(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--help", "config"}) {
    std::cout << config::key_reference();
    return kDone;
  }
  queue::SweepOptions options;
  std::string file;
  std::string retry;
  GlobalOptions global;
  CLI::App app{"Runs or resumes a sweep. `sweep run --help config` lists every key of the file.",
               "sweep"};
  app.add_option("CONFIG", file, "sweep configuration (TOML)")->required();
  app.add_flag("--dry-run",
               options.dry_run,
               "print what is finished, what would run and what it may cost; start nothing");
  app.add_option(
      "--only", options.only, "run only items of this problem or item glob, e.g. 'sci/*'");
  app.add_option("--retry",
                 retry,
                 "begin anew what ended in errors, in timeouts or in either (all); other finished "
                 "items are kept, see [run] force_rerun")
      ->check(CLI::IsMember({"errors", "timeouts", "all"}));
  app.add_option("--run-name", options.run_name, "instead of [run] name");
  app.add_flag("--accept-drift",
               options.accept_drift,
               "go on although what decides results changed; recorded and shown on every page");
  app.add_flag("--yes", options.assume_yes, "do not ask when [run] confirm_usd is exceeded");
  queue::TaskOptions task;
  add_task_options(app, task);
  app.add_flag("--allow-remote",
               options.allow_remote,
               "let [report] serve_host be another address than this machine's own");
  add_global_options(app, global);
  parse(app, arguments);
  options.config = file;
  options.retry = retry == "errors"     ? queue::Retry::errors
                  : retry == "timeouts" ? queue::Retry::timeouts
                  : retry == "all"      ? queue::Retry::all
                                        : queue::Retry::none;
  options.json = global.json;
  options.quiet = global.quiet;
  options.allow_unsandboxed = global.allow_unsandboxed;
  if (!task.task.empty()) {
    check_task(task);
    options.task = task;
  }
  return queue::run_sweep(options, sweep_installation());
}

}  // namespace sweep::cli
