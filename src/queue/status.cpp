#include "queue/status.h"

#include "config/matrix.h"
#include "endpoint/price.h"
#include "queue/live.h"
#include "queue/recorded.h"
#include "record/chains.h"
#include "record/claims.h"
#include "record/foreign.h"
#include "record/plan.h"
#include "util/clock.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sweep::queue {
namespace {

using nlohmann::json;
using record::Row;

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
      const std::string id = item_of(name).id();
      if (models_of_.emplace(id, name.model).second) {
        ++model(name.model).items;
        ++status_.items;
      }
    }
  }

  void read(const Row& row) {
    ++read_;
    // A start with an accepted change of the configuration writes a `config` row in their place.
    if (row.kind == record::kind::run_start || row.kind == record::kind::run_resume ||
        row.kind == record::kind::config || row.kind == record::kind::import_start) {
      ++status_.starts;
      status_.imported = status_.imported || row.kind == record::kind::import_start;
      ended_ = false;
      tasks_ = 0;
    } else if (row.kind == record::kind::task_start) {
      ++status_.starts;
      ++tasks_;
      ended_ = false;
    } else if (row.kind == record::kind::task_end) {
      --tasks_;
      ended_ = tasks_ <= 0;
    } else if (row.kind == record::kind::run_end) {
      ended_ = true;
    } else if (row.kind == record::kind::item_start) {
      ends_.erase(row.item);
      open_.insert_or_assign(row.item,
                             std::pair{read_, RunStatus::Open{row.item, row.time, {}, {}, {}, {}}});
    } else if (row.kind == record::kind::item_end) {
      open_.erase(row.item);
      ends_.insert_or_assign(
          row.item,
          status_.imported ? std::string(record::kForeign) : field_text(row.data, "outcome"));
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
  std::int64_t read_ = 0;                    // rows so far
  int tasks_ = 0;                            // begun without a last word
  bool ended_ = false;
};

// What the supervisors at work say of the items that have no end.
void add_live(const record::RunDir& run, RunStatus& status) {
  const double now = util::RealClock().wall();
  std::map<std::string, LiveItem> live = read_live(live_file(run.folder()), now);
  for (const RunStatus::Task& task : status.tasks) {
    if (task.alive) {
      live.merge(read_live(live_file(run.claims_folder() / ("work." + task.name)), now));
    }
  }
  for (RunStatus::Open& open : status.open) {
    if (const auto found = live.find(open.item); found != live.end()) {
      open.state = found->second.state;
      open.next = found->second.next;
    }
  }
}

std::vector<RunStatus::Task> tasks_of(const record::RunDir& run) {
  std::vector<RunStatus::Task> out;
  util::RealClock clock;
  for (const record::TaskSign& sign : record::task_signs(run.claims_folder(), clock.wall())) {
    out.push_back({sign.task, sign.host, sign.pid, sign.alive(), sign.age_s});
  }
  return out;
}

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
    for (const Row& row : rows) {
      status.last = std::max(status.last, row.time);
    }
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
  record::Chains chains = record::read_chains(run);
  const std::string problem = chains.problem();
  const std::size_t count = chains.tasks.size();
  const std::vector<Row> rows = std::move(chains).rows();
  const std::vector<RunStatus::Task> tasks = tasks_of(run);
  const bool alive = std::ranges::any_of(tasks, &RunStatus::Task::alive);
  RunStatus status = status_of(rows, record::planned_items(run, rows), held || alive);
  status.holder = alive ? std::string() : record::lock_holder(run);
  status.problem = problem;
  status.tasks = tasks;
  if (status.state == RunStatus::State::running) {
    add_live(run, status);
  }
  status.chains = count;
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
  json tasks = json::array();
  for (const RunStatus::Task& task : status.tasks) {
    tasks.push_back({{"name", task.name},
                     {"host", task.host},
                     {"pid", task.pid},
                     {"alive", task.alive},
                     {"age_s", task.age_s}});
  }
  json open = json::array();
  for (const RunStatus::Open& item : status.open) {
    open.push_back({{"item", item.item},
                    {"since", item.since},
                    {"last", item.last},
                    {"at", item.at},
                    {"state", item.state},
                    {"next_s", item.next ? json(*item.next) : json(nullptr)}});
  }
  return {{"schema", 1},
          {"run", run.folder().string()},
          {"state", name(status.state)},
          {"holder", status.holder},
          {"rows", status.rows},
          {"chains", status.chains},
          {"tasks", std::move(tasks)},
          {"problem", status.problem},
          {"begun", status.begun},
          {"last", status.last},
          {"starts", status.starts},
          {"imported", status.imported},
          {"items", status.items},
          {"ended", status.ended},
          {"outcomes", status.outcomes},
          {"models", std::move(models)},
          {"open", std::move(open)}};
}

}  // namespace sweep::queue
