#include "queue/status.h"

#include "config/matrix.h"
#include "endpoint/price.h"
#include "record/plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sweep::queue {
namespace {

using nlohmann::json;
using record::Row;

std::string id_of(const record::ItemName& name) {
  config::WorkItem item;
  item.variant = name.variant;
  item.model = name.model;
  item.level = name.level;
  item.problem = name.problem;
  item.attempt = name.attempt;
  return item.id();
}

// A field of a row's data; what a foreign hand wrote in its place counts as nothing.
std::string field_text(const json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t field_number(const json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_number_integer()
             ? std::max<std::int64_t>(found->get<std::int64_t>(), 0)
             : 0;
}

// Reads rows in order; knows which item is whose.
class Reader {
 public:
  Reader(RunStatus& status, const std::vector<record::ItemName>& planned) : status_(status) {
    for (const record::ItemName& name : planned) {
      const std::string id = id_of(name);
      if (models_of_.emplace(id, name.model).second) {
        ++model(name.model).items;
        ++status_.items;
      }
    }
  }

  void read(const Row& row) {
    // A start with an accepted change of the configuration writes a `config` row in their place.
    if (row.kind == record::kind::run_start || row.kind == record::kind::run_resume ||
        row.kind == record::kind::config) {
      ++status_.starts;
      ended_ = false;
    } else if (row.kind == record::kind::run_end) {
      ended_ = true;
    } else if (row.kind == record::kind::item_start) {
      ends_.erase(row.item);
      open_.insert_or_assign(row.item,
                             std::pair{row.seq, RunStatus::Open{row.item, row.time, {}, {}}});
    } else if (row.kind == record::kind::item_end) {
      open_.erase(row.item);
      ends_.insert_or_assign(row.item, field_text(row.data, "outcome"));
    } else if (row.kind == record::kind::retry) {
      open_.erase(row.item);
      ends_.erase(row.item);
    } else if (row.kind == record::kind::request || row.kind == record::kind::tool) {
      work(row);
    }
  }

  // Counts what the rows left.
  void finish() {
    for (const auto& [id, outcome] : ends_) {
      const auto owner = models_of_.find(id);
      if (owner == models_of_.end()) {
        continue;  // of an earlier plan
      }
      RunStatus::Model& row = model(owner->second);
      ++row.ended;
      ++row.outcomes[outcome];
      ++status_.ended;
      ++status_.outcomes[outcome];
    }
    std::vector<std::pair<std::int64_t, RunStatus::Open>> open;
    for (auto& [id, item] : open_) {
      open.push_back(std::move(item));
    }
    std::ranges::sort(open, {}, &std::pair<std::int64_t, RunStatus::Open>::first);
    for (auto& [seq, item] : open) {
      status_.open.push_back(std::move(item));
    }
    for (auto& [name, row] : models_) {
      status_.models.push_back(std::move(row));
    }
  }

  [[nodiscard]] bool ended() const { return ended_; }

 private:
  RunStatus::Model& model(const std::string& name) {
    RunStatus::Model& row = models_[name];
    row.name = name;
    return row;
  }

  void work(const Row& row) {
    const bool request = row.kind == record::kind::request;
    if (const auto open = open_.find(row.item); open != open_.end()) {
      // People count from 1.
      open->second.second.last =
          fmt::format("{} {}",
                      request ? "request" : "tool call",
                      endpoint::add_saturated(field_number(row.data, "index"), 1));
      open->second.second.at = row.time;
    }
    const auto owner = models_of_.find(row.item);
    const auto facts = row.data.find("facts");
    if (!request || owner == models_of_.end() || facts == row.data.end() || !facts->is_object()) {
      return;
    }
    RunStatus::Model& of = model(owner->second);
    ++of.requests;
    const auto add = [](std::int64_t& sum, std::int64_t more) {
      sum = endpoint::add_saturated(sum, more);
    };
    add(of.nano_usd, field_number(*facts, "wasted_nano_usd"));
    add(of.nano_usd, field_number(*facts, "cost_nano_usd"));
    const auto cost = facts->find("cost_nano_usd");
    of.price_known = of.price_known && cost != facts->end() && cost->is_number();
    if (const auto usage = facts->find("usage"); usage != facts->end() && usage->is_object()) {
      add(of.tokens, field_number(*usage, "input"));
      add(of.tokens, field_number(*usage, "output"));
    }
  }

  RunStatus& status_;
  std::map<std::string, std::string> models_of_;  // by item id
  std::map<std::string, RunStatus::Model> models_;
  std::map<std::string, std::pair<std::int64_t, RunStatus::Open>> open_;
  std::map<std::string, std::string> ends_;  // outcome by item id
  bool ended_ = false;
};

}  // namespace

std::string_view name(RunStatus::State state) {
  switch (state) {
    case RunStatus::State::running:
      return "running";
    case RunStatus::State::finished:
      return "finished";
    case RunStatus::State::stopped:
      return "stopped";
    case RunStatus::State::interrupted:
      return "interrupted";
  }
  return "";
}

RunStatus status_of(const std::vector<Row>& rows,
                    const std::vector<record::ItemName>& planned,
                    bool lock_held) {
  RunStatus status;
  Reader reader(status, planned);
  for (const Row& row : rows) {
    reader.read(row);
  }
  reader.finish();
  status.rows = rows.size();
  if (!rows.empty()) {
    status.begun = rows.front().time;
    status.last = rows.back().time;
  }
  const bool all = status.items > 0 && status.ended == status.items;
  status.state = lock_held        ? RunStatus::State::running
                 : all            ? RunStatus::State::finished
                 : reader.ended() ? RunStatus::State::stopped
                                  : RunStatus::State::interrupted;
  return status;
}

RunStatus status_of(const record::RunDir& run) {
  const bool held = record::lock_held(run);
  const record::Verification read = record::verify_ledger(run.ledger_file());
  RunStatus status = status_of(read.read, record::planned_items(run, read.read), held);
  status.holder = record::lock_holder(run);
  status.problem = read.problem;
  return status;
}

json to_json(const RunStatus& status, const record::RunDir& run) {
  json models = json::array();
  for (const RunStatus::Model& model : status.models) {
    models.push_back(
        {{"name", model.name},
         {"items", model.items},
         {"ended", model.ended},
         {"outcomes", model.outcomes},
         {"requests", model.requests},
         {"tokens", model.tokens},
         {"usd",
          model.price_known ? json(static_cast<double>(model.nano_usd) * 1e-9) : json(nullptr)}});
  }
  json open = json::array();
  for (const RunStatus::Open& item : status.open) {
    open.push_back(
        {{"item", item.item}, {"since", item.since}, {"last", item.last}, {"at", item.at}});
  }
  return {{"schema", 1},
          {"run", run.folder().string()},
          {"state", name(status.state)},
          {"holder", status.holder},
          {"rows", status.rows},
          {"problem", status.problem},
          {"begun", status.begun},
          {"last", status.last},
          {"starts", status.starts},
          {"items", status.items},
          {"ended", status.ended},
          {"outcomes", status.outcomes},
          {"models", std::move(models)},
          {"open", std::move(open)}};
}

}  // namespace sweep::queue
