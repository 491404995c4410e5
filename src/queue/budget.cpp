#include "queue/budget.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace sweep::queue {

Budget::Budget(std::optional<double> limit, const std::vector<record::Row>& rows) : limit_(limit) {
  for (const record::Row& row : rows) {
    note(row);
  }
}

void Budget::note(const record::Row& row) {
  if (row.kind != record::kind::request) {
    return;
  }
  const auto facts = row.data.find("facts");
  if (facts == row.data.end() || !facts->is_object()) {
    return;
  }
  const auto cost = facts->find("cost_nano_usd");
  if (cost != facts->end() && cost->is_number_integer()) {
    spent_nano_ += cost->get<std::int64_t>();
  }
}

std::string Budget::text() const {
  return fmt::format(
      "the budget of ${:.4g} is used up (${:.4g} spent)", limit_.value_or(0), spent_usd());
}

}  // namespace sweep::queue
