#include "queue/endings.h"

#include "wire/channel.h"

#include <system_error>

namespace sweep::queue {

namespace {

using wire::field;

std::optional<double> dollars_in(const nlohmann::json& facts, const char* key) {
  return facts.contains(key) && facts.at(key).is_number()
             ? std::optional(facts.at(key).get<double>())
             : std::nullopt;
}

nlohmann::json interval_json(const std::optional<record::Interval>& interval) {
  return interval ? nlohmann::json{{"point", interval->point},
                                   {"low", interval->low},
                                   {"high", interval->high}}
                  : nlohmann::json();
}

std::string word_in(const nlohmann::json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Ending ending_in(const record::Row& row) {
  Ending ending;
  ending.outcome = word_in(row.data, "outcome");
  ending.file = word_in(row.data, "file");
  if (const auto facts = row.data.find("facts"); facts != row.data.end()) {
    facts_from(*facts, ending);
  }
  return ending;
}

}  // namespace

Ending ending_of(const record::Trajectory& t) {
  Ending ending;
  ending.outcome = t.outcome;
  ending.told = true;
  ending.reason = !t.error.empty() ? t.error
                  : t.final_result ? t.final_result->reason
                                   : t.stop_reason;
  ending.tokens = t.llm_total_tokens;
  ending.cost_usd = t.cost_usd;
  ending.wasted_usd = t.cost_wasted_usd.value_or(0);
  ending.device = t.provenance.device;
  if (t.final_result) {
    ending.verdict = t.final_result->verdict;
    ending.speedup = t.final_result->speedup;
  }
  return ending;
}

nlohmann::json facts_json(const Ending& e) {
  return {{"verdict", e.verdict},
          {"reason", e.reason},
          {"tokens", e.tokens},
          {"cost_usd", e.cost_usd ? nlohmann::json(*e.cost_usd) : nlohmann::json()},
          {"wasted_usd", e.wasted_usd},
          {"speedup", interval_json(e.speedup)},
          {"device", e.device}};
}

void facts_from(const nlohmann::json& facts, Ending& e) {
  e.verdict = field<std::string>(facts, "verdict");
  e.reason = field<std::string>(facts, "reason");
  e.tokens = field<std::int64_t>(facts, "tokens");
  e.cost_usd = dollars_in(facts, "cost_usd");
  e.wasted_usd = dollars_in(facts, "wasted_usd").value_or(0);
  e.device = field<std::string>(facts, "device");
  const auto speedup = facts.find("speedup");
  if (speedup != facts.end() && speedup->is_object()) {
    e.speedup = record::Interval{field<double>(*speedup, "point"),
                                 field<double>(*speedup, "low"),
                                 field<double>(*speedup, "high")};
  }
  e.told = true;
}

Endings::Endings(const std::vector<record::Row>& rows) {
  for (const record::Row& row : rows) {
    if (row.kind == record::kind::item_start || row.kind == record::kind::retry) {
      items_[row.item] = std::nullopt;
    } else if (row.kind == record::kind::item_end) {
      items_[row.item] = ending_in(row);
    }
  }
}

const Ending* Endings::of(const std::string& item) const {
  const auto found = items_.find(item);
  return found != items_.end() && found->second ? &*found->second : nullptr;
}

const Ending* standing(const Endings& endings,
                       const record::RunDir& run,
                       const std::string& item,
                       const record::ItemName& name) {
  const Ending* ending = endings.of(item);
  std::error_code error;
  return ending != nullptr && std::filesystem::is_regular_file(run.trajectory_file(name), error)
             ? ending
             : nullptr;
}

}  // namespace sweep::queue
