#include "queue/resume.h"

#include "util/error.h"
#include "wire/channel.h"

namespace sweep::queue {

namespace {

using ByIndex = std::map<std::int64_t, record::Finished>;

void keep(const record::Row& row, ByIndex& list) {
  record::Finished finished = finished_from_json(row.data);
  const std::int64_t index = finished.index;
  list[index] = std::move(finished);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the list is emptied.
std::vector<record::Finished> in_order(ByIndex list) {
  std::vector<record::Finished> out;
  for (auto& [index, finished] : list) {
    out.push_back(std::move(finished));
  }
  return out;
}

}  // namespace

Action decide(std::string_view outcome, Retry retry) {
  if (outcome.empty()) {
    return Action::run;
  }
  if (outcome == "in_progress" || outcome == "infra_error") {
    return Action::go_on;
  }
  const bool error = outcome == "error" && (retry == Retry::errors || retry == Retry::all);
  const bool timeout = outcome == "timeout" && (retry == Retry::timeouts || retry == Retry::all);
  return error || timeout ? Action::again : Action::finished;
}

Replay replay_of(const std::vector<record::Row>& rows, const std::string& item) {
  ByIndex requests;
  ByIndex tools;
  Replay replay;
  bool open = false;
  for (const record::Row& row : rows) {
    if (row.item != item) {
      continue;
    }
    if (row.kind == record::kind::retry) {
      requests.clear();
      tools.clear();
      ++replay.retried;
    } else if (row.kind == record::kind::item_start) {
      replay.interrupted += open ? 1 : 0;
      open = true;
    } else if (row.kind == record::kind::item_end) {
      open = false;
    } else if (row.kind == record::kind::request) {
      keep(row, requests);
    } else if (row.kind == record::kind::tool) {
      keep(row, tools);
    }
  }
  replay.requests = in_order(std::move(requests));
  replay.tools = in_order(std::move(tools));
  return replay;
}

std::string label(const config::WorkItem& item) {
  return item.problem_id() + (item.attempt > 1 ? " #" + std::to_string(item.attempt) : "") + " " +
         item.model;
}

record::ItemName name_of(const config::WorkItem& item) {
  return {item.variant, item.model, item.level, item.problem, item.attempt};
}

record::Trajectory named(const config::WorkItem& item, const std::string& run_name) {
  record::Trajectory t;
  t.item_id = item.id();
  t.run_name = run_name;
  t.model_name = item.model;
  t.variant = item.variant;
  t.level = item.level;
  t.problem_id = item.problem;
  t.attempt = item.attempt;
  return t;
}

Past past_of(const record::RunDir& run, const config::WorkItem& item) {
  Past past;
  const auto file = run.trajectory_file(name_of(item));
  if (!std::filesystem::exists(file)) {
    return past;
  }
  try {
    past.trajectory = run.load(file);
  } catch (const util::Error& error) {
    past.unreadable = error.what();
  }
  return past;
}

std::optional<std::string> identity_of(const std::vector<record::Row>& rows) {
  std::optional<std::string> hash;
  for (const record::Row& row : rows) {
    if (row.kind == record::kind::run_start || row.kind == record::kind::config) {
      hash = wire::field<std::string>(row.data, "identity_sha256");
    }
  }
  return hash;
}

nlohmann::json to_json(const record::Finished& f) {
  return {{"index", f.index},
          {"key", f.key_sha256},
          {"input", f.input_sha256},
          {"output", f.output_sha256},
          {"facts", f.facts}};
}

record::Finished finished_from_json(const nlohmann::json& json) {
  record::Finished f;
  f.index = wire::field<std::int64_t>(json, "index");
  f.key_sha256 = wire::field<std::string>(json, "key");
  f.input_sha256 = wire::field<std::string>(json, "input");
  f.output_sha256 = wire::field<std::string>(json, "output");
  f.facts = json.value("facts", nlohmann::json::object());
  return f;
}

nlohmann::json to_json(const config::WorkItem& item) {
  return {{"model", item.model},
          {"variant", item.variant},
          {"level", item.level},
          {"problem", item.problem},
          {"attempt", item.attempt}};
}

config::WorkItem item_from_json(const nlohmann::json& json) {
  config::WorkItem item;
  item.model = wire::field<std::string>(json, "model");
  item.variant = wire::field<std::string>(json, "variant");
  item.level = wire::field<std::string>(json, "level");
  item.problem = wire::field<std::string>(json, "problem");
  item.attempt = wire::field<std::int64_t>(json, "attempt");
  return item;
}

}  // namespace sweep::queue
