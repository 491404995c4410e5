#include "queue/drive.h"

#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "queue/item_limits.h"
#include "queue/needs.h"
#include "queue/supervisor.h"
#include "queue/web.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <set>
#include <thread>

#include <fmt/format.h>
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
  const std::int64_t compilers = plan.config.parallelism.cpu_compilers;
  setup.surroundings.evaluation.compilers =
      compilers > 0 ? compilers : std::max<std::int64_t>(1, std::thread::hardware_concurrency());
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

std::map<std::string, std::int64_t> priorities_of(const config::SweepConfig& config) {
  std::map<std::string, std::int64_t> priorities;
  for (const config::Model& model : config.models) {
    priorities[model.name] = model.priority;
  }
  return priorities;
}

// Makes a supervisor that of one task.
void take_part(Share& share, const Session& s, Supervisor::Setup& setup) {
  Share::Part part = share.part_of(s.plan.config.run);
  setup.share = &share;
  setup.budget_usd = part.usd;
  setup.budget_tokens = part.tokens;
  setup.spent = std::move(part.spent);
  for (WorkerSetup& worker : setup.workers) {
    worker.items_folder = fs::absolute(share.own().items_folder()).string();
    worker.task = share.task();
    worker.tasks = s.options.task->tasks;
  }
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string("unknown");
}

Stopped drive(const Session& s,
              const std::vector<Lane>& lanes,
              record::Ledger& ledger,
              std::vector<Task> tasks,
              std::vector<record::Row> before,
              Share* share) {
  StopSignals signals;  // before any child or thread exists
  const Builtins builtins(s.plan.config, s.installation);
  const auto web = share == nullptr ? start_web(s.plan, s.options, s.installation, s.run) : nullptr;
  Supervisor::Setup setup;
  setup.tasks = std::move(tasks);
  setup.workers = worker_setups(s.plan,
                                s.options,
                                s.installation,
                                lanes,
                                s.run,
                                identity_of(before.empty() ? ledger.rows() : before).value_or(""),
                                builtins.urls());
  setup.priorities = priorities_of(s.plan.config);
  setup.budget_usd = s.plan.config.run.budget_usd;
  setup.budget_tokens = s.plan.config.run.budget_tokens;
  if (share != nullptr) {
    take_part(*share, s, setup);
  }
  setup.before = std::move(before);
  setup.worker_env = worker_environment(s.plan.config);
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
  util::RealClock clock;
  RunLog log(s.run.folder() / "log", share == nullptr ? "sweep" : share->task(), clock);
  log.write(fmt::format("{} begins on {}, process {}, {} workers",
                        share == nullptr ? "a sweep" : "task " + share->task(),
                        host_name(),
                        ::getpid(),
                        setup.workers.size()));
  setup.log = &log;
  View view(s.options.quiet || s.options.json);
  Supervisor supervisor(
      std::move(setup), share == nullptr ? s.run : share->own(), ledger, signals, view);
  const Supervisor::End end = supervisor.run();
  nlohmann::json counts = nlohmann::json::object();
  for (const auto& [outcome, count] : supervisor.state().outcomes) {
    counts[outcome] = count;
  }
  (void)ledger.append(share == nullptr ? record::kind::run_end : record::kind::task_end,
                      {},
                      {{"outcomes", counts}, {"interrupted", end == Supervisor::End::interrupted}});
  log.write(end == Supervisor::End::done          ? "ends"
            : end == Supervisor::End::interrupted ? "ends: a signal or `sweep stop` asked for it"
                                                  : "ends: " + supervisor.stop_text());
  const std::string kind = end == Supervisor::End::interrupted ? "interrupted"
                           : end == Supervisor::End::budget    ? "budget"
                           : end == Supervisor::End::refused   ? "refused"
                           : end == Supervisor::End::devices   ? "devices"
                                                               : "";
  return {kind,
          end == Supervisor::End::interrupted ? "a signal ended it" : supervisor.stop_text(),
          supervisor.stopped_models()};
}

}  // namespace sweep::queue
