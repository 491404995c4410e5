#pragma once

#include "record/item_services.h"
#include "record/ledger.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What a run has spent, counted from the ledger's request rows, so that earlier sessions and
// attempts that were begun anew count too, and what its requests under way may spend. Rows without
// a price cost nothing here; a configuration with budget_usd and a model without a price is refused
// before.
class Budget {
 public:
  // Limits in dollars and tokens; none: never used up.
  Budget(std::optional<double> usd,
         std::optional<std::int64_t> tokens,
         const std::vector<record::Row>& rows);

  void note(const record::Row& row);

  enum class Answer {
    yes,    // `most` is held for the holder until release()
    later,  // it may fit once requests under way have ended; ask again after a release()
    no,     // it would exceed the budget whatever they use
  };

  // Before a request that uses at most `most`. A holder asks for one request at a time.
  [[nodiscard]] Answer ask(int holder, const record::Spend& most);

  // The holder's request has its row, or will never have one.
  void release(int holder) { held_.erase(holder); }

  [[nodiscard]] double spent_usd() const { return static_cast<double>(spent_.nano_usd) * 1e-9; }

  [[nodiscard]] std::int64_t spent_tokens() const { return spent_.tokens; }

  // Of spent_usd() that was for answers that were lost, estimated.
  [[nodiscard]] double wasted_usd() const { return static_cast<double>(wasted_nano_) * 1e-9; }

  [[nodiscard]] bool used_up() const;

  // "the budget of $1.00 is used up ($1.02 spent)"; only with a limit.
  [[nodiscard]] std::string text() const;

  // "the budget of $1.00 would be exceeded ($0.93 spent, the next request may cost $0.12)".
  [[nodiscard]] std::string text(const record::Spend& most) const;

 private:
  [[nodiscard]] bool fits(const record::Spend& more) const;

  std::optional<double> usd_;
  std::optional<std::int64_t> nano_limit_;
  std::optional<std::int64_t> token_limit_;
  record::Spend spent_;
  std::int64_t wasted_nano_ = 0;
  std::map<int, record::Spend> held_;  // by holder
};

}  // namespace sweep::queue
