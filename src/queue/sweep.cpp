#include "queue/sweep.h"

#include "queue/cost.h"
#include "queue/drive.h"
#include "queue/dry_run.h"
#include "queue/join.h"
#include "queue/needs.h"
#include "queue/on_finish.h"
#include "queue/prepare.h"
#include "queue/summary.h"
#include "queue/task_run.h"
#include "record/chains.h"
#include "report/build.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr int kLacking = 2;  // as the start itself would be refused

// A run that has begun and whose ledger needs no repair; what tasks left is joined first.
bool sound(const record::RunDir& run, const record::Verification& ledger) {
  std::error_code error;
  return ledger.intact && identity_of(ledger.read).has_value() &&
         !fs::exists(run.claims_folder(), error);
}

// Columns of the terminal that standard output is; 0: it is none.
std::size_t output_width() {
  winsize size{};
  const bool terminal =
      ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return terminal ? std::max<std::size_t>(40, size.ws_col == 0 ? 80 : size.ws_col) : 0;
}

int show(const DryRun& dry, const SweepOptions& options) {
  if (options.json) {
    std::cout << to_json(dry).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    std::cout << text(dry);
  }
  if (!options.quiet) {
    for (const std::string& line : dry.lacking.texts) {
      std::cerr << "warning: " << util::printable(line) << '\n';
    }
  }
  return dry.lacking.texts.empty() ? 0 : kLacking;
}

// Whether the pages show all that the ledger holds.
bool pages_made(const record::RunDir& run) {
  std::error_code error;
  const auto page = fs::last_write_time(run.report_folder() / "index.html", error);
  return !error && page >= fs::last_write_time(run.ledger_file(), error) && !error;
}

int finish(const Session& s,
           const std::vector<record::Row>& rows,
           const Stopped& stopped,
           std::size_t worked) {
  bool reported = true;
  if (s.plan.config.report.enabled && (worked > 0 || !pages_made(s.run))) {
    try {
      (void)report::build(s.run);
    } catch (const util::InfraError& error) {
      // The results stand; the pages are made again by `sweep report`.
      std::cerr << "report: " << error.what() << '\n';
      reported = false;
    }
  }
  Final final = final_of(s.plan.chosen, s.run, rows, stopped);
  final.scripted = std::ranges::all_of(s.plan.config.models, config::scripted);
  if (!s.options.summary) {
    // The caller reads the run itself.
  } else if (s.options.json) {
    std::cout << to_json(final, s.run, worked)
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << final_text(final, s.run, worked, s.options.config.string(), output_width());
  }
  const int status = stopped.kind == "interrupted"                    ? 130
                     : final.infra > 0 || final.left > 0 || !reported ? 3
                                                                      : 0;
  if (worked > 0) {
    const std::string failure = run_on_finish(s.plan.config.run.on_finish, s.run.folder(), status);
    if (!failure.empty()) {
      std::cerr << failure << '\n';
    }
  }
  return status;
}

// Runs what is pending of a run that is open.
int drive_to_end(const Session& s, const std::vector<Lane>& devices, record::Ledger& ledger) {
  std::vector<record::Row> rows;  // of tasks besides; empty: the ledger has all
  if (record::Chains chains = record::read_chains(s.run); !chains.tasks.empty()) {
    rows = std::move(chains).rows();
  }
  const bool shared = !rows.empty();
  std::vector<Task> tasks = tasks_of(s.plan, s.run, shared ? rows : ledger.rows(), s.options.retry);
  const std::vector<config::WorkItem> pending = pending_of(tasks);
  if (pending.empty()) {
    return finish(s, shared ? rows : ledger.rows(), {}, 0);
  }
  confirm_cost(s.plan, pending, s.options);
  const Stopped stopped = drive(s, devices, ledger, std::move(tasks), std::move(rows));
  return finish(s, shared ? ledger_of(s.run).read : ledger.rows(), stopped, pending.size());
}

}  // namespace

int run_sweep(const SweepOptions& options, const Installation& installation) {
  const Plan plan = make_plan(options, installation);
  if (!options.quiet) {
    for (const config::Diagnostic& warning : plan.warnings) {
      std::cerr << "warning: " << warning.text() << '\n';
    }
  }
  const record::RunDir run(plan.config.run.runs_dir / record::encode_part(plan.config.run.name));
  if (options.dry_run) {
    return show(dry_run(plan, installation, run, options.retry), options);
  }
  if (!options.quiet) {
    for (const std::string& note : plan.matrix.notes) {
      std::cerr << "note: " << note << '\n';
    }
  }
  check_keys(plan);
  check_budget(plan);
  if (options.task) {
    return run_task({options, installation, plan, run});
  }
  const auto most =
      static_cast<std::size_t>(std::max<std::int64_t>(0, plan.config.parallelism.num_gpu_devices));
  const std::vector<Lane> devices =
      lanes(installation.program, plan.config.run.device, most, plan.config.run.require_gpu);
  if (devices.size() < most && plan.config.run.device != "cpu" && !options.quiet) {
    std::cerr << fmt::format(
        "warning: [parallelism] num_gpu_devices = {}, but {} can be used\n", most, devices.size());
  }
  const config::Conditions conditions =
      conditions_of(plan, installation, devices.front().info.name);
  const Session session{options, installation, plan, run};
  const record::Verification before = ledger_of(run);
  if (!sound(run, before) || !pending_of(tasks_of(plan, run, before.read, options.retry)).empty()) {
    check_scripts(plan, installation);
    if (const auto missing = missing_disassembler(plan, installation, profile::default_search())) {
      throw util::UsageError(*missing, "E_ISA_TOOL");
    }
    check_machine(devices.front(), plan.config.run.nvcc, options.allow_unsandboxed);
  } else {
    // What was published of a finished run, the head of its ledger above all, stays as it is.
    (void)check_drift(plan, conditions, run, before.read, options.accept_drift);
    return finish(session, before.read, {}, 0);
  }
  run.create();
  require_no_tasks(run);
  const record::RunLock lock(run);
  if (fs::is_regular_file(run.ledger_file())) {
    for (const std::string& refused : join_tasks(run).refused) {
      std::cerr << "sweep: " << util::printable(refused)
                << "; it does not count, see `sweep verify`\n";
    }
  }
  record::Ledger ledger(run.ledger_file());
  open_run(plan, conditions, run, ledger, options.accept_drift, installation.version);
  return drive_to_end(session, devices, ledger);
}

}  // namespace sweep::queue
