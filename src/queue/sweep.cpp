#include "queue/sweep.h"

#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "queue/dry_run.h"
#include "queue/item_limits.h"
#include "queue/needs.h"
#include "queue/on_finish.h"
#include "queue/prepare.h"
#include "queue/summary.h"
#include "queue/supervisor.h"
#include "queue/web.h"
#include "report/build.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

// Everything that a worker may inherit by name; keys of the configured models are added to it.
constexpr std::array kInherited = {"PATH",
                                   "HOME",
                                   "CUDA_HOME",
                                   "CUDA_VISIBLE_DEVICES",
                                   "LD_LIBRARY_PATH",
                                   "SWEEP_LOCK_DIR",
                                   "SWEEP_SALT_FILE",
                                   "SWEEP_CACHE_DIR",
                                   "SWEEP_PROBLEMS",
                                   "SSL_CERT_FILE",
                                   "XDG_CACHE_HOME"};

std::vector<std::string> worker_environment(const config::SweepConfig& config) {
  std::set<std::string> names(kInherited.begin(), kInherited.end());
  for (const config::Model& model : config.models) {
    if (!model.api_key_env.empty()) {
      names.insert(model.api_key_env);
    }
  }
  std::vector<std::string> env{"LANG=C.UTF-8"};
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str())) {
      env.push_back(name + "=" + value);
    }
  }
  return env;
}

constexpr int kLacking = 2;  // as the start itself would be refused

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string("unknown");
}

// The built-in servers that the models name, by script folder.
class Builtins {
 public:
  Builtins(const config::SweepConfig& config, const Installation& installation) {
    for (const config::Model& model : config.models) {
      const std::string name(endpoint::builtin_name(model.base_url));
      if (!name.empty() && !urls_.contains(name)) {
        servers_.push_back(std::make_unique<endpoint::BuiltinProcess>(
            script_places(config, installation), name, installation.program));
        urls_[name] = servers_.back()->base_url();
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& urls() const { return urls_; }

 private:
  std::vector<std::unique_ptr<endpoint::BuiltinProcess>> servers_;
  std::map<std::string, std::string> urls_;
};

std::vector<WorkerSetup> worker_setups(const Plan& plan,
                                       const SweepOptions& options,
                                       const Installation& installation,
                                       const std::vector<Lane>& lanes,
                                       const record::RunDir& run,
                                       const std::string& config_sha256,
                                       const std::map<std::string, std::string>& urls) {
  WorkerSetup setup;
  setup.toml = plan.toml;
  setup.file = plan.config.file.string();
  setup.root = plan.config.root.string();
  setup.run_name = options.run_name;
  setup.run_folder = fs::absolute(run.folder()).string();
  setup.builtin_urls = urls;
  setup.surroundings.evaluation = installation.evaluation;
  setup.surroundings.dotenv = config::dotenv_files(plan.config.file, plan.config.root);
  setup.surroundings.allow_unsandboxed = options.allow_unsandboxed;
  setup.surroundings.provenance.sweep_version = installation.version;
  setup.surroundings.provenance.git_commit = installation.commit;
  setup.surroundings.provenance.config_sha256 = config_sha256;
  setup.surroundings.provenance.host = host_name();
  std::vector<WorkerSetup> out;
  for (std::int64_t agent = 0; agent < plan.config.parallelism.agents_per_gpu; ++agent) {
    for (const Lane& lane : lanes) {
      setup.surroundings.device = lane.id;
      setup.surroundings.device_info = lane.info;
      out.push_back(setup);
    }
  }
  return out;
}

void confirm_cost(const Plan& plan,
                  const std::vector<config::WorkItem>& pending,
                  const SweepOptions& options) {
  const config::CostPreview cost = config::preview_cost(plan.config, pending);
  if (!options.quiet) {
    std::cerr << cost_line(cost) << '\n';
  }
  const auto limit = plan.config.run.confirm_usd;
  if (!limit || options.assume_yes || (cost.usd && *cost.usd <= *limit)) {
    return;
  }
  const std::string what =
      fmt::format("may cost {} and [run] confirm_usd is ${:.2f}",
                  cost.usd ? fmt::format("up to ${:.2f}", *cost.usd) : "an unknown amount",
                  *limit);
  if (::isatty(STDIN_FILENO) != 1) {
    throw util::UsageError({plan.config.file.string(), what, "say --yes"}, "E_SWEEP_CONFIRM");
  }
  std::cerr << "this run " << what << "; go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") {
    throw util::UsageError({plan.config.file.string(), "not confirmed", "nothing was started"},
                           "E_SWEEP_CONFIRM");
  }
}

void check_budget(const Plan& plan) {
  for (const config::Model& model : plan.config.models) {
    if (plan.config.run.budget_usd && !model.price) {
      throw util::UsageError({"models." + model.name,
                              "its price is unknown, so budget_usd cannot hold",
                              "add [models.price] or drop budget_usd"},
                             "E_SWEEP_BUDGET");
    }
  }
}

std::unique_ptr<WebProcess> start_web(const Plan& plan,
                                      const SweepOptions& options,
                                      const Installation& installation,
                                      const record::RunDir& run) {
  const config::Report& report = plan.config.report;
  if (!report.enabled || !report.serve) {
    return nullptr;
  }
  const bool local = report.serve_host == "127.0.0.1" || report.serve_host == "localhost" ||
                     report.serve_host == "::1";
  const std::string host = local || options.allow_remote ? report.serve_host : "127.0.0.1";
  if (!local && !options.allow_remote && !options.quiet) {
    std::cerr << "report: serve_host " << report.serve_host
              << " is honoured with --allow-remote only; serving 127.0.0.1\n";
  }
  const int refresh = std::max(1, static_cast<int>(report.refresh_seconds));
  try {
    return std::make_unique<WebProcess>(
        installation.program, fs::absolute(run.folder()), host, report.serve_port, refresh);
  } catch (const util::InfraError& error) {
    std::cerr << "report: " << error.what() << '\n';
    return nullptr;
  }
}

// The rows of a run that has begun and whose ledger needs no repair.
std::optional<std::vector<record::Row>> begun(const record::RunDir& run) {
  std::error_code error;
  if (!fs::is_regular_file(run.ledger_file(), error)) {
    return std::nullopt;
  }
  record::Verification ledger = record::verify_ledger(run.ledger_file());
  const bool whole = ledger.intact && ledger.torn_bytes == 0 && identity_of(ledger.read);
  return whole ? std::optional(std::move(ledger.read)) : std::nullopt;
}

struct Session {
  const SweepOptions& options;
  const Installation& installation;
  const Plan& plan;
  const record::RunDir& run;
};

Stopped drive(const Session& s,
              const std::vector<Lane>& lanes,
              record::Ledger& ledger,
              std::vector<Task> tasks) {
  StopSignals signals;  // before any child or thread exists
  const Builtins builtins(s.plan.config, s.installation);
  const auto web = start_web(s.plan, s.options, s.installation, s.run);
  Supervisor::Setup setup;
  setup.tasks = std::move(tasks);
  setup.workers = worker_setups(s.plan,
                                s.options,
                                s.installation,
                                lanes,
                                s.run,
                                identity_of(ledger.rows()).value_or(""),
                                builtins.urls());
  setup.worker_env = worker_environment(s.plan.config);
  setup.budget_usd = s.plan.config.run.budget_usd;
  setup.budget_tokens = s.plan.config.run.budget_tokens;
  setup.item_timeout = s.plan.config.parallelism.worker_timeout_s;
  setup.config = s.options.config.string();
  setup.program = s.installation.program;
  if (web) {
    setup.url = fmt::format("http://127.0.0.1:{}   from elsewhere: ssh -L {}:127.0.0.1:{} {}",
                            web->port(),
                            web->port(),
                            web->port(),
                            host_name());
    if (!s.options.quiet) {
      std::cerr << "report: " << setup.url << '\n';
    }
  }
  try_paused(s.plan.config, config::dotenv_files(s.plan.config.file, s.plan.config.root));
  View view(s.options.quiet || s.options.json);
  Supervisor supervisor(std::move(setup), s.run, ledger, signals, view);
  const Supervisor::End end = supervisor.run();
  nlohmann::json counts = nlohmann::json::object();
  for (const auto& [outcome, count] : supervisor.state().outcomes) {
    counts[outcome] = count;
  }
  (void)ledger.append(record::kind::run_end,
                      {},
                      {{"outcomes", counts}, {"interrupted", end == Supervisor::End::interrupted}});
  const std::string kind = end == Supervisor::End::interrupted ? "interrupted"
                           : end == Supervisor::End::budget    ? "budget"
                           : end == Supervisor::End::refused   ? "refused"
                                                               : "";
  return {kind,
          end == Supervisor::End::interrupted ? "a signal ended it" : supervisor.stop_text(),
          supervisor.stopped_models()};
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

int finish(const Session& s, const Stopped& stopped, std::size_t worked) {
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
  Final final = final_of(s.plan.chosen, s.run, stopped);
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
  if (!pending_of(tasks_of(plan, run, options.retry)).empty()) {
    check_scripts(plan, installation);
    if (const auto missing = missing_disassembler(plan, installation, profile::default_search())) {
      throw util::UsageError(*missing, "E_ISA_TOOL");
    }
    check_machine(devices.front(), plan.config.run.nvcc, options.allow_unsandboxed);
  } else if (const auto rows = begun(run)) {
    // What was published of a finished run, the head of its ledger above all, stays as it is.
    check_drift(plan, conditions, run, *rows, options.accept_drift);
    return finish(session, {}, 0);
  }
  run.create();
  const record::RunLock lock(run);
  record::Ledger ledger(run.ledger_file());
  open_run(plan, conditions, run, ledger, options.accept_drift, installation.version);
  std::vector<Task> tasks = tasks_of(plan, run, options.retry);
  const std::vector<config::WorkItem> pending = pending_of(tasks);
  if (pending.empty()) {
    return finish(session, {}, 0);
  }
  confirm_cost(plan, pending, options);
  return finish(session, drive(session, devices, ledger, std::move(tasks)), pending.size());
}

}  // namespace sweep::queue
