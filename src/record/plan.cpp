#include "record/plan.h"

#include "record/artifacts.h"
#include "record/chains.h"
#include "record/json.h"
#include "util/error.h"

#include <set>

namespace sweep::record {

namespace {

constexpr std::size_t kMostItems = 100000;
constexpr std::size_t kMostPlanBytes = std::size_t{64} << 20;

[[noreturn]] void throw_plan(const std::string& what) {
  throw util::InfraError({"plan of the run", what, "the pages are made without it"}, "E_RUN_PLAN");
}

ItemName item_from_json(const nlohmann::json& json) {
  const auto word = [&](const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) {
      throw_plan(std::string("an item without the text `") + key + "`");
    }
    return json[key].get<std::string>();
  };
  ItemName item{word("variant"), word("model"), word("level"), word("problem"), 1};
  if (!json.contains("attempt") || !json["attempt"].is_number_integer()) {
    throw_plan("an item without the number `attempt`");
  }
  item.attempt = json["attempt"].get<std::int64_t>();
  return item;
}

std::vector<ItemName> items_of_row(const RunDir& run, const Row& row) {
  const auto named = row.data.find("items_sha256");
  if (named == row.data.end() || !named->is_string()) {
    return {};
  }
  try {
    const Artifacts artifacts(run.artifacts_folder(), Artifacts::Use::read);
    return plan_from_json(artifacts.get(named->get<std::string>(), kMostPlanBytes));
  } catch (const util::Error&) {
    return {};  // `sweep verify` says what is wrong with it
  }
}

}  // namespace

std::string plan_json(const std::vector<ItemName>& items) {
  nlohmann::json out = nlohmann::json::array();
  for (const ItemName& item : items) {
    out.push_back({{"variant", item.variant},
                   {"model", item.model},
                   {"level", item.level},
                   {"problem", item.problem},
                   {"attempt", item.attempt}});
  }
  return canonical(out);
}

std::vector<ItemName> plan_from_json(std::string_view text) {
  const nlohmann::json json = parse_bounded(text, "plan of the run", kMostPlanBytes, 4);
  if (!json.is_array() || json.size() > kMostItems) {
    throw_plan("is no list of at most 100,000 items");
  }
  std::vector<ItemName> out;
  for (const nlohmann::json& item : json) {
    out.push_back(item_from_json(item));
  }
  return out;
}

std::vector<ItemName> planned_items(const RunDir& run, const std::vector<Row>& rows) {
  std::vector<ItemName> out;
  std::set<std::filesystem::path> known;
  for (const Row& row : rows) {
    // An import says at its end what it took.
    const bool imported = row.kind == kind::run_end && row.data.contains("items_sha256");
    const bool anew = imported || row.kind == kind::run_start || row.kind == kind::config;
    if (!anew && row.kind != kind::run_resume && row.kind != kind::task_start) {
      continue;
    }
    if (anew) {
      out.clear();
      known.clear();
    }
    for (ItemName& item : items_of_row(run, row)) {
      if (known.insert(run.trajectory_file(item)).second) {
        out.push_back(std::move(item));
      }
    }
  }
  return out;
}

}  // namespace sweep::record
