#include "report/baseline_table.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <string>

#include <fmt/format.h>

namespace sweep::report {
namespace {

constexpr std::size_t kMostBaselineRows = 100;

std::string text_member(const nlohmann::json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string ratio_member(const nlohmann::json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_number() ? util::human_ratio(found->get<double>())
                                                   : "\u2014";
}

}  // namespace

Markup baseline_table(const record::FinalResult& result) {
  const auto list =
      result.evaluation.is_object() ? result.evaluation.find("baselines") : result.evaluation.end();
  if (!result.evaluation.is_object() || list == result.evaluation.end() || !list->is_array()) {
    return {};
  }
  Table table{"baselines",
              "Libraries on the same GPU, timed apart (sweep baseline record)",
              {"baseline", "library", "kernel against it", "it against the seed", "note"},
              {false, false, true, true, false},
              {}};
  for (const nlohmann::json& item : *list) {
    if (!item.is_object() || table.rows.size() >= kMostBaselineRows) {
      continue;
    }
    const std::string math = text_member(item, "math");
    table.rows.push_back({text(text_member(item, "name")),
                          text(text_member(item, "library") + (math.empty() ? "" : ", " + math)),
                          text(ratio_member(item, "candidate")),
                          text(ratio_member(item, "ratio")),
                          text(text_member(item, "reason"))});
  }
  return table.rows.empty() ? Markup{} : render(table);
}

}  // namespace sweep::report
