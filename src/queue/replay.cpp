#include "queue/replay.h"

#include "agent/agent.h"
#include "agent/exchange_record.h"
#include "agent/session.h"
#include "endpoint/base_url.h"
#include "endpoint/builtin.h"
#include "endpoint/exchange.h"
#include "endpoint/replay_server.h"
#include "endpoint/target.h"
#include "queue/devices.h"
#include "queue/prepare.h"
#include "queue/recorded.h"
#include "queue/replay_compare.h"
#include "queue/replay_record.h"
#include "record/chains.h"
#include "record/json.h"
#include "record/plan.h"
#include "util/error.h"
#include "util/fake_clock.h"
#include "util/sha256.h"
#include "util/text.h"
#include "util/work_folder.h"

#include <algorithm>
#include <optional>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

// Where the new run goes: a folder that holds nothing, or one that is removed afterwards.
class Output {
 public:
  explicit Output(const fs::path& wanted) {
    std::error_code error;
    if (wanted.empty()) {
      scratch_.emplace("sweep-replay");
      run_ = record::RunDir(scratch_->path() / "run");
    } else if (fs::exists(wanted, error) && !fs::is_empty(wanted, error)) {
      throw util::UsageError({wanted.string(), "already holds something", "give a new folder"},
                             "E_REPLAY_OUT");
    } else {
      run_ = record::RunDir(wanted);
    }
    run_.create();
  }

  [[nodiscard]] const record::RunDir& run() const { return run_; }

 private:
  std::optional<util::WorkFolder> scratch_;
  record::RunDir run_{fs::path()};
};

// The recorded items that are chosen. Each has its model in the configuration.
std::vector<record::ItemName> names_of(const record::RunDir& run,
                                       const std::vector<record::Row>& rows,
                                       const config::SweepConfig& config,
                                       const ReplayOptions& options) {
  std::vector<record::ItemName> names;
  for (const record::ItemName& name : record::planned_items(run, rows)) {
    const config::WorkItem item = item_of(name);
    if (options.only.empty() || config::glob_match(options.only, item.problem_id()) ||
        config::glob_match(options.only, item.id())) {
      names.push_back(name);
    }
  }
  if (names.empty() && !options.only.empty()) {
    throw util::UsageError({"--only " + options.only,
                            "matches no item of the run",
                            "an item is VARIANT/MODEL/PROBLEM, e.g. 'custom/gpt-5.5/level1/3'; '*' "
                            "stands for any part"},
                           "E_SWEEP_ONLY");
  }
  for (const record::ItemName& name : names) {
    const bool known = std::ranges::any_of(
        config.models, [&](const config::Model& model) { return model.name == name.model; });
    if (!known) {
      throw util::UsageError(
          {options.config.empty() ? run.folder().string() : options.config.string(),
           "has no model '" + util::printable(name.model) + "', which the run's items name",
           "give --config the file that the run began with"},
          "E_REPLAY_CONFIG");
    }
  }
  return names;
}

class Player {
 public:
  Player(const record::RunDir& run, const ReplayOptions& options, const Installation& installation)
      : run_(run),
        options_(options),
        installation_(installation),
        rows_(recorded_rows(run)),
        config_(recorded_config(run, rows_, options.config)),
        names_(names_of(run, rows_, config_, options)),
        artifacts_(run.artifacts_folder(), record::Artifacts::Use::read),
        out_(options.out),
        ledger_(out_.run().ledger_file()),
        server_([this](double seconds) { clock_.advance(std::max(0.0, seconds)); }) {
    if (options.judge) {
      const std::vector<Lane> lanes =
          queue::lanes(installation.program, config_.run.device, 1, config_.run.require_gpu);
      check_machine(lanes.front(), config_.run.nvcc, options.allow_unsandboxed);
      device_ = lanes.front().id;
    }
  }

  Replayed play(const std::function<void(const ReplayedItem&)>& each);

 private:
  void begin(const std::vector<record::ItemName>& names);
  ReplayedItem play_one(const record::ItemName& name);
  record::Trajectory lead(const config::WorkItem& item,
                          const record::Trajectory& recorded,
                          const Replay& replay);
  [[nodiscard]] std::vector<endpoint::Exchange> exchanges(const config::WorkItem& item,
                                                          const Replay& replay) const;
  [[nodiscard]] endpoint::Target target_of(const config::WorkItem& item) const;
  void judge(const config::WorkItem& item, const Replay& replay, ReplayedItem& out) const;

  const record::RunDir& run_;
  const ReplayOptions& options_;
  const Installation& installation_;
  std::vector<record::Row> rows_;
  config::SweepConfig config_;
  std::vector<record::ItemName> names_;
  record::Artifacts artifacts_;
  Output out_;
  record::Ledger ledger_;
  util::FakeClock clock_;
  endpoint::ReplayServer server_;
  device::Id device_;
};

void Player::begin(const std::vector<record::ItemName>& names) {
  const record::Artifacts artifacts(out_.run().artifacts_folder());
  nlohmann::json data{{"items_sha256", artifacts.put(record::plan_json(names))},
                      {"sweep_version", installation_.version},
                      {"replay_of", rows_.empty() ? "" : rows_.back().hash},
                      {"policy", record::kPolicy}};
  for (const char* field : {"identity_sha256", "toml_sha256"}) {
    if (const std::string hash = named_by(rows_, field); !hash.empty()) {
      const std::string bytes = artifacts_.get(hash);
      data[field] = artifacts.put(bytes);
      if (field == std::string_view("identity_sha256")) {
        record::write_whole(out_.run().config_file(), bytes + "\n");
      }
    }
  }
  (void)ledger_.append(record::kind::run_start, {}, std::move(data));
}

endpoint::Target Player::target_of(const config::WorkItem& item) const {
  const config::Model& model = agent::find_model(config_, item.model);
  const bool builtin = !endpoint::builtin_name(model.base_url).empty();
  endpoint::Target out =
      endpoint::target_of(model, builtin ? "http://127.0.0.1/v1" : model.base_url, {});
  out.instead = server_.origin();
  return out;
}

std::vector<endpoint::Exchange> Player::exchanges(const config::WorkItem& item,
                                                  const Replay& replay) const {
  const auto get = [this](const std::string& hash) { return artifacts_.get(hash); };
  const endpoint::Target target = target_of(item);
  std::vector<endpoint::Exchange> out;
  for (const record::Finished& request : replay.requests) {
    const auto named = request.facts.find("exchange");
    if (named != request.facts.end() && named->is_string() &&
        record::is_sha256(named->get<std::string>())) {
      out.push_back(agent::get_exchange(get, named->get<std::string>()));
      continue;
    }
    // Of a run without exchanges: the bodies that counted.
    endpoint::Exchange one;
    one.path = endpoint::path_of(endpoint::request_url(
        target, target.api == endpoint::Api::chat ? "/chat/completions" : "/responses"));
    endpoint::Try only;
    only.request = get(request.input_sha256);
    only.response = request.output_sha256.empty() ? "" : get(request.output_sha256);
    only.status = request.output_sha256.empty() ? 0 : 200;
    one.tries.push_back(std::move(only));
    out.push_back(std::move(one));
  }
  return out;
}

record::Trajectory Player::lead(const config::WorkItem& item,
                                const record::Trajectory& recorded,
                                const Replay& replay) {
  const nlohmann::json& opening = recorded.turns.at(0).messages_in;
  agent::Again again;
  again.system_prompt = recorded.system_prompt;
  again.first_message = opening.at(1).at("content").get<std::string>();
  agent::Task task;
  task.id = item.problem_id();
  task.name = recorded.problem_name;
  task.title = recorded.problem_title;
  task.domain = recorded.problem_domain;
  task.slates = recorded.problem_slates;
  task.admission = recorded.problem_admission;
  task.precision = recorded.precision;
  task.sha256 = recorded.provenance.problem_sha256;
  task.seed_sha256 = recorded.provenance.seed_sha256;
  endpoint::Services needs;
  needs.clock = &clock_;
  const auto endpoint = endpoint::connect(target_of(item), agent::retry_of(config_, item), needs);
  const double limit = config_.parallelism.worker_timeout_s;
  std::function<void()> expire;
  if (recorded.stop_reason == "timeout") {
    expire = [this, limit] { clock_.advance(limit + 1); };
  }
  ReplayRecord record(run_, out_.run(), ledger_, item, replay, expire);
  const agent::Services services{&record, endpoint.get(), nullptr, &clock_, false, &again};
  return agent::run(config_, item, task, device_, recorded.provenance, services);
}

void Player::judge(const config::WorkItem& item, const Replay& replay, ReplayedItem& out) const {
  const agent::ToolSettings settings =
      agent::tool_settings(config_, item, device_, options_.allow_unsandboxed);
  const auto evaluator = agent::real_evaluator(installation_.evaluation);
  for (const record::Finished& tool : replay.tools) {
    const auto named = tool.facts.find("tool");
    const std::string name =
        named != tool.facts.end() && named->is_string() ? named->get<std::string>() : "";
    if (name != "compile_kernel" && name != "run_correctness" && name != "static_check" &&
        name != "submit_kernel") {
      continue;
    }
    const agent::ToolOutcome recorded =
        agent::outcome_from_text(artifacts_.get(tool.output_sha256));
    const agent::ToolOutcome now =
        agent::run_tool(name, artifacts_.get(tool.input_sha256), settings, *evaluator);
    ++out.judged;
    if (const std::string difference = judged_differently(recorded, now); !difference.empty()) {
      out.differences.push_back("tool call " + std::to_string(tool.index + 1) + " (" + name +
                                "): " + difference);
    }
  }
}

ReplayedItem Player::play_one(const record::ItemName& name) {
  const config::WorkItem item = item_of(name);
  ReplayedItem out;
  out.item = item.id();
  const Past past = past_of(run_, item);
  if (!past.trajectory || !past.trajectory->finished()) {
    out.skipped = past.unreadable.empty() ? "not finished" : past.unreadable;
    return out;
  }
  const record::Trajectory& recorded = *past.trajectory;
  out.outcome = recorded.outcome;
  const Replay replay = replay_of(rows_, item.id());
  if (recorded.turns.empty() || replay.requests.empty()) {
    out.skipped = "no request was made";
    return out;
  }
  try {
    server_.begin(exchanges(item, replay));
    (void)ledger_.append(record::kind::item_start,
                         item.id(),
                         {{"file",
                           out_.run()
                               .trajectory_file(name)
                               .lexically_relative(out_.run().folder())
                               .generic_string()}});
    const record::Trajectory now = lead(item, recorded, replay);
    endpoint::ReplayServer::Result wire = server_.end();
    out.tries = wire.played;
    // What went over the wire otherwise is the cause of whatever came after it.
    out.differences =
        wire.differences.empty() ? differences(recorded, now) : std::move(wire.differences);
    const fs::path file = out_.run().trajectory_file(name);
    (void)ledger_.append(record::kind::item_end,
                         item.id(),
                         {{"outcome", now.outcome},
                          {"file", file.lexically_relative(out_.run().folder()).generic_string()},
                          {"trajectory_sha256", util::sha256_hex(record::read_whole(file))}});
    if (options_.judge) {
      judge(item, replay, out);
    }
  } catch (const nlohmann::json::exception& error) {
    out.differences.push_back(std::string("the record is damaged: ") + error.what());
  } catch (const util::InfraError& error) {
    if (error.code() == "E_RUN_WRITE") {
      throw;
    }
    out.differences.emplace_back(error.what());
  }
  return out;
}

Replayed Player::play(const std::function<void(const ReplayedItem&)>& each) {
  begin(names_);
  Replayed out;
  nlohmann::json outcomes = nlohmann::json::object();
  for (const record::ItemName& name : names_) {
    if (options_.next) {
      options_.next(out.items.size() + 1, names_.size(), item_of(name).id());
    }
    out.items.push_back(play_one(name));
    const std::string& outcome = out.items.back().outcome;
    outcomes[outcome] = outcomes.value(outcome, 0) + 1;
    if (each) {
      each(out.items.back());
    }
  }
  (void)ledger_.append(record::kind::run_end, {}, {{"outcomes", outcomes}, {"interrupted", false}});
  return out;
}

}  // namespace

bool Replayed::same() const {
  const bool differs = std::ranges::any_of(
      items, [](const ReplayedItem& item) { return !item.differences.empty(); });
  return !differs &&
         std::ranges::any_of(items, [](const ReplayedItem& item) { return item.skipped.empty(); });
}

Replayed replay_run(const record::RunDir& run,
                    const ReplayOptions& options,
                    const Installation& installation,
                    const std::function<void(const ReplayedItem&)>& each) {
  return Player(run, options, installation).play(each);
}

}  // namespace sweep::queue
