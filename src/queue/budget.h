#pragma once

#include "record/ledger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What a run has spent, counted from the ledger's request rows, so that earlier sessions and
// attempts that were begun anew count too. Rows without a price cost nothing here; a configuration
// with budget_usd and a model without a price is refused before.
class Budget {
 public:
  // `limit` in dollars; none: never used up.
  Budget(std::optional<double> limit, const std::vector<record::Row>& rows);

  void note(const record::Row& row);

  [[nodiscard]] double spent_usd() const { return static_cast<double>(spent_nano_) * 1e-9; }

  [[nodiscard]] bool used_up() const { return limit_ && spent_usd() >= *limit_; }

  // "the budget of $1.00 is used up ($1.02 spent)"; only with a limit.
  [[nodiscard]] std::string text() const;

 private:
  std::optional<double> limit_;
  std::int64_t spent_nano_ = 0;
};

}  // namespace sweep::queue
