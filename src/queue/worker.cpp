#include "queue/worker.h"

#include "endpoint/builtin.h"
#include "evaluate/spares.h"
#include "queue/endings.h"
#include "queue/item_limits.h"
#include "queue/resume.h"
#include "queue/share.h"
#include "queue/signals.h"
#include "record/artifacts.h"
#include "record/json.h"
#include "record/run_dir.h"
#include "report/stream.h"
#include "util/error.h"
#include "util/text.h"

namespace sweep::queue {

namespace {

constexpr double kWorkSeconds = 7 * 24 * 3600.0;  // until there is something to do, or room for it
constexpr double kAnswerSeconds = 120;  // the supervisor fsyncs a row; a slow disk may take seconds

constexpr double kJudgedSeconds = 0.2;  // between questions after another worker's judgement

const config::Model& model_of(const config::SweepConfig& config, const std::string& name) {
  for (const config::Model& model : config.models) {
    if (model.name == name) {
      return model;
    }
  }
  throw util::InfraError({"worker",
                          "no model named '" + name + "' in the configuration",
                          "this is a defect; please report it"},
                         "E_WORKER_MODEL");
}

// The queue's side of one item, inside the worker: artifacts and trajectory go straight to the
// run's folder (content addressed, written whole), ledger rows through the supervisor, the chain's
// only writer.
class WorkerServices final : public record::ItemServices {
 public:
  WorkerServices(wire::Channel& channel,
                 StopSignals& signals,
                 const record::RunDir& run,
                 const config::SweepConfig& config,
                 config::WorkItem item,
                 Replay replay,
                 std::unique_ptr<SharedLimits> limits,
                 util::Clock& clock)
      : channel_(channel),
        signals_(signals),
        run_(run),
        artifacts_(run.artifacts_folder()),
        config_(config),
        item_(std::move(item)),
        replay_(std::move(replay)),
        clock_(clock),
        limits_(
            channel, signals, std::move(limits), config.parallelism.llm_global_concurrency, clock),
        begun_(!replay_.requests.empty()) {}

  std::string put_artifact(std::string_view bytes) override { return artifacts_.put(bytes); }

  std::string get_artifact(const std::string& sha256) override { return artifacts_.get(sha256); }

  std::optional<record::Finished> finished_request(std::int64_t index) override {
    return at(replay_.requests, index);
  }

  std::optional<record::Finished> finished_tool(std::int64_t index) override {
    return at(replay_.tools, index);
  }

  std::string record_request(const record::Finished& request) override {
    begun_ = true;
    return append(record::kind::request, request);
  }

  std::string record_tool(const record::Finished& tool) override {
    return append(record::kind::tool, tool);
  }

  std::optional<record::Judged> judged(const std::vector<std::string>& keys) override {
    const double before = clock_.monotonic();
    while (!stopping()) {
      const wire::Message answer =
          channel_.ask({{"type", "judged"}, {"keys", keys}}, kAnswerSeconds);
      if (!wire::field<bool>(answer.body, "wait")) {
        judged_waited_ += clock_.monotonic() - before;
        record::Judged known{wire::field<std::string>(answer.body, "output"),
                             wire::field<std::string>(answer.body, "item")};
        return known.output_sha256.empty() ? std::nullopt : std::optional(std::move(known));
      }
      clock_.sleep(kJudgedSeconds);
    }
    return std::nullopt;
  }

  void streaming(const record::Stream& so_far) override {
    try {
      report::write_stream(run_.stream_file(name_of(item_)), so_far);
    } catch (const util::Error&) {
      // Nobody can watch; the item goes on.
    }
  }

  void save(const record::Trajectory& trajectory) override {
    record::Trajectory counted = trajectory;
    counted.times_retried = replay_.retried;
    counted.interruptions = replay_.interrupted;
    run_.save(name_of(item_), counted);
    std::error_code ignored;
    std::filesystem::remove(run_.stream_file(name_of(item_)), ignored);
  }

  std::unique_ptr<Permit> permit(const record::Need& need) override {
    return limits_.take(need, begun_);
  }

  void held(const std::string& why) override {
    const double now = clock_.monotonic();
    if (!why.empty() && !held_since_) {
      held_since_ = now;
    } else if (why.empty() && held_since_) {
      held_ += now - *held_since_;
      held_since_.reset();
    }
    channel_.send({{"type", "held"}, {"why", why}});
  }

  double waited() override {
    const double open = held_since_ ? clock_.monotonic() - *held_since_ : 0;
    return limits_.waited() + budget_waited_ + judged_waited_ + held_ + open;
  }

  void progress(const record::Progress& p) override {
    nlohmann::json body{{"type", "progress"},
                        {"turn", p.turn},
                        {"state", p.state},
                        {"event", p.event},
                        {"tokens", p.tokens},
                        {"seconds", p.next_try}};
    body["cost"] = p.cost_usd ? nlohmann::json(*p.cost_usd) : nlohmann::json();
    channel_.send(body);
  }

  bool within_budget(const record::Spend& most) override {
    const double before = clock_.monotonic();
    // Answered when others' requests have left room, or will not.
    const wire::Message answer = channel_.ask(
        {{"type", "budget"}, {"tokens", most.tokens}, {"nano_usd", most.nano_usd}}, kWorkSeconds);
    budget_waited_ += clock_.monotonic() - before;
    return wire::field<bool>(answer.body, "allowed");
  }

  bool stopping() override { return signals_.requests() > 0; }

  // The item's file as last saved; its names alone when there is none.
  [[nodiscard]] record::Trajectory saved() const {
    if (Past past = past_of(run_, item_); past.trajectory) {
      return std::move(*past.trajectory);
    }
    return named(item_, config_.run.name);
  }

 private:
  static std::optional<record::Finished> at(const std::vector<record::Finished>& list,
                                            std::int64_t index) {
    for (const record::Finished& finished : list) {
      if (finished.index == index) {
        return finished;
      }
    }
    return std::nullopt;
  }

  std::string append(std::string_view kind, const record::Finished& finished) {
    nlohmann::json data = to_json(finished);
    data["policy"] = record::kPolicy;
    const wire::Message answer = channel_.ask(
        {{"type", "row"}, {"kind", kind}, {"item", item_.id()}, {"data", std::move(data)}},
        kAnswerSeconds);
    return wire::field<std::string>(answer.body, "hash");
  }

  wire::Channel& channel_;
  StopSignals& signals_;
  const record::RunDir& run_;
  record::Artifacts artifacts_;
  const config::SweepConfig& config_;
  config::WorkItem item_;
  Replay replay_;
  util::Clock& clock_;
  ItemLimits limits_;
  bool begun_ = false;  // its conversation has an answer already
  double budget_waited_ = 0;
  double judged_waited_ = 0;
  double held_ = 0;  // for devices and compilers
  std::optional<double> held_since_;
};

Replay replay_from(const nlohmann::json& body) {
  Replay replay;
  replay.retried = wire::field<std::int64_t>(body, "retried");
  replay.interrupted = wire::field<std::int64_t>(body, "interrupted");
  for (const nlohmann::json& entry : body.at("requests")) {
    replay.requests.push_back(finished_from_json(entry));
  }
  for (const nlohmann::json& entry : body.at("tools")) {
    replay.tools.push_back(finished_from_json(entry));
  }
  return replay;
}

std::string builtin_url(const WorkerSetup& setup, const config::Model& model) {
  const auto found = setup.builtin_urls.find(std::string(endpoint::builtin_name(model.base_url)));
  return found == setup.builtin_urls.end() ? std::string{} : found->second;
}

nlohmann::json summary(const record::Trajectory& t) {
  return {{"type", "done"},
          {"outcome", t.outcome},
          {"error", t.error},
          {"code", t.error_code},
          {"facts", facts_json(ending_of(t))}};
}

// The item's record when its runner threw: the harness failed, not the model.
record::Trajectory failed(const WorkerServices& services, const util::Error& error) {
  record::Trajectory t = services.saved();
  t.outcome = "infra_error";
  t.stop_reason = "infra";
  t.error = error.what();
  t.error_code = error.code();
  t.finished_at = record::utc_now();
  return t;
}

bool cannot_write(const util::Error& error) {
  return error.code() == "E_RUN_WRITE";
}

record::Trajectory run_one(const ItemRunner& runner,
                           const config::SweepConfig& config,
                           const config::WorkItem& item,
                           const agent::Surroundings& surroundings,
                           WorkerServices& services) {
  try {
    return runner(config, item, surroundings, services);
  } catch (const util::Interrupted&) {
    throw;
  } catch (const wire::WireError&) {
    throw;
  } catch (const util::Error& error) {
    if (cannot_write(error)) {
      throw;
    }
    return failed(services, error);
  }
}

// False, with the reason to the supervisor, when the run's folder takes no more: another worker
// would meet the same.
bool run_and_save(const ItemRunner& runner,
                  const config::SweepConfig& config,
                  const config::WorkItem& item,
                  const agent::Surroundings& surroundings,
                  WorkerServices& services,
                  wire::Channel& channel) {
  try {
    const record::Trajectory trajectory = run_one(runner, config, item, surroundings, services);
    services.save(trajectory);
    channel.send(summary(trajectory));
    return true;
  } catch (const util::Error& error) {
    if (!cannot_write(error)) {
      throw;
    }
    channel.send({{"type", "cannot_write"},
                  {"where", util::to_valid_utf8(error.message().where)},
                  {"what", error.message().what},
                  {"next", error.message().next}});
    return false;
  }
}

}  // namespace

void serve(wire::Channel& channel, StopSignals& signals, const ItemRunner& runner) {
  const WorkerSetup setup = setup_from_json(channel.receive(60).body);
  config::SweepConfig config = config::parse(setup.toml, setup.file, setup.root).config;
  if (!setup.run_name.empty()) {
    config.run.name = setup.run_name;
  }
  divide_limits(config, setup.tasks);
  const record::RunDir run(setup.run_folder,
                           setup.items_folder.empty() ? setup.run_folder : setup.items_folder);
  evaluate::Spares spares;
  util::RealClock clock;
  while (signals.requests() == 0) {
    channel.send({{"type", "ready"}});
    const nlohmann::json body = channel.receive(kWorkSeconds).body;
    if (wire::field<std::string>(body, "type") == "stop") {
      return;
    }
    const config::WorkItem item = item_from_json(body.at("item"));
    agent::Surroundings surroundings = setup.surroundings;
    surroundings.spares = &spares;
    const config::Model& model = model_of(config, item.model);
    surroundings.builtin_url = builtin_url(setup, model);
    const std::string& url = config::scripted(model) ? surroundings.builtin_url : model.base_url;
    WorkerServices services(channel,
                            signals,
                            run,
                            config,
                            item,
                            replay_from(body),
                            limits_of(model, url, surroundings.dotenv, clock, setup.task),
                            clock);
    if (!run_and_save(runner, config, item, surroundings, services, channel)) {
      return;
    }
  }
}

}  // namespace sweep::queue
