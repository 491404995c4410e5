#include "queue/duplicates.h"

namespace sweep::queue {

void Duplicates::note(const record::Row& row) {
  if (row.kind == record::kind::retry) {
    std::erase_if(known_, [&](const auto& known) { return known.second.item == row.item; });
    return;
  }
  if (row.kind != record::kind::tool || !row.data.is_object() || !row.data.contains("facts")) {
    return;
  }
  const nlohmann::json& facts = row.data["facts"];
  const nlohmann::json output = row.data.value("output", nlohmann::json());
  if (!facts.is_object() || !facts.contains("keys") || !facts["keys"].is_array() ||
      !output.is_string()) {
    return;
  }
  for (const nlohmann::json& key : facts["keys"]) {
    if (key.is_string()) {
      known_.try_emplace(key.get<std::string>(),
                         record::Judged{output.get<std::string>(), row.item});
      claims_.erase(key.get<std::string>());
    }
  }
}

Duplicates::Answer Duplicates::ask(int worker, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (const auto found = known_.find(key); found != known_.end()) {
      return {found->second, false};
    }
  }
  for (const std::string& key : keys) {
    if (const auto claim = claims_.find(key); claim != claims_.end() && claim->second != worker) {
      return {std::nullopt, true};
    }
  }
  for (const std::string& key : keys) {
    claims_[key] = worker;
  }
  return {};
}

void Duplicates::release(int worker) {
  std::erase_if(claims_, [worker](const auto& claim) { return claim.second == worker; });
}

}  // namespace sweep::queue
