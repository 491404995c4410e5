#include "queue/budget.h"

#include "endpoint/price.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

std::int64_t number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer()
             ? std::max<std::int64_t>(0, found->get<std::int64_t>())
             : 0;
}

std::string tokens_text(std::int64_t tokens) {
  return util::human_count(static_cast<std::uint64_t>(std::max<std::int64_t>(0, tokens))) +
         " tokens";
}

}  // namespace

Budget::Budget(std::optional<double> usd,
               std::optional<std::int64_t> tokens,
               const std::vector<record::Row>& rows)
    : usd_(usd), token_limit_(tokens) {
  if (usd) {
    nano_limit_ = std::llround(std::clamp(*usd, 0.0, 9e9) * 1e9);
  }
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
  const auto add = [](std::int64_t& sum, std::int64_t more) {
    sum = endpoint::add_saturated(sum, more);
  };
  const std::int64_t wasted = number(*facts, "wasted_nano_usd");
  add(wasted_nano_, wasted);
  add(spent_.nano_usd, wasted);
  add(spent_.nano_usd, number(*facts, "cost_nano_usd"));
  if (const auto usage = facts->find("usage"); usage != facts->end() && usage->is_object()) {
    add(spent_.tokens, number(*usage, "input"));
    add(spent_.tokens, number(*usage, "output"));
  }
  if (const auto tries = facts->find("attempts"); tries != facts->end() && tries->is_array()) {
    for (const nlohmann::json& attempt : *tries) {
      if (attempt.is_object()) {
        add(spent_.tokens, number(attempt, "lost_input"));
        add(spent_.tokens, number(attempt, "lost_output"));
      }
    }
  }
}

bool Budget::fits(const record::Spend& more) const {
  const bool money = !nano_limit_ || more.nano_usd <= *nano_limit_ - spent_.nano_usd;
  return money && (!token_limit_ || more.tokens <= *token_limit_ - spent_.tokens);
}

Budget::Answer Budget::ask(int holder, const record::Spend& most) {
  if (used_up() || !fits(most)) {
    return Answer::no;
  }
  record::Spend all = most;
  for (const auto& [other, held] : held_) {
    all.nano_usd = endpoint::add_saturated(all.nano_usd, held.nano_usd);
    all.tokens = endpoint::add_saturated(all.tokens, held.tokens);
  }
  if (!fits(all)) {
    return Answer::later;
  }
  held_[holder] = most;
  return Answer::yes;
}

bool Budget::used_up() const {
  return (nano_limit_ && spent_.nano_usd >= *nano_limit_) ||
         (token_limit_ && spent_.tokens >= *token_limit_);
}

std::string Budget::text() const {
  if (nano_limit_ && spent_.nano_usd >= *nano_limit_) {
    return fmt::format(
        "the budget of ${:.4g} is used up (${:.4g} spent)", usd_.value_or(0), spent_usd());
  }
  return fmt::format("the budget of {} is used up ({} spent)",
                     tokens_text(token_limit_.value_or(0)),
                     tokens_text(spent_.tokens));
}

std::string Budget::text(const record::Spend& most) const {
  if (used_up()) {
    return text();
  }
  if (nano_limit_ && most.nano_usd > *nano_limit_ - spent_.nano_usd) {
    return fmt::format(
        "the budget of ${:.4g} would be exceeded (${:.4g} spent, the next request may cost "
        "${:.4g})",
        usd_.value_or(0),
        spent_usd(),
        static_cast<double>(most.nano_usd) * 1e-9);
  }
  return fmt::format("the budget of {} would be exceeded ({} spent, the next request may take {})",
                     tokens_text(token_limit_.value_or(0)),
                     tokens_text(spent_.tokens),
                     tokens_text(most.tokens));
}

}  // namespace sweep::queue
