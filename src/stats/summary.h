#pragma once

#include "stats/resample.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::stats {

// What attempts without a speedup do to a geometric mean.
enum class Failures {
  leave_out,     // the mean says how fast the kernels are that work, not how many do
  count_as_one,  // the baseline is used instead of a kernel that does not work: 1.0x
};

// "failed attempts are left out", "failed attempts count as 1.0x".
[[nodiscard]] std::string_view text(Failures policy);

struct Attempt {
  std::size_t problem = 0;  // as in Judged
  double speedup = 0;       // > 0; 0: failed or not timed
};

struct GeometricMean {
  std::optional<double> value;       // unset: nothing to take a mean of
  std::optional<Interval> interval;  // bootstrap over problems; unset: fewer than two problems
  std::size_t n = 0;                 // attempts in the mean
  std::size_t failed = 0;            // attempts without a speedup, in the mean or not
};

[[nodiscard]] GeometricMean geometric_mean(std::span<const Attempt> attempts,
                                           Failures policy,
                                           const Bootstrap& options);

// What one item of a run cost, in dollars. Unset: the price is unknown.
struct Expense {
  std::string model;
  std::optional<double> spent;   // on answers that count
  std::optional<double> wasted;  // on answers that were lost
};

struct Account {
  std::string model;  // empty: all
  std::size_t items = 0;
  double known_spent = 0;
  double known_wasted = 0;
  std::size_t unknown = 0;  // items whose price is unknown

  // Unset as soon as one price is unknown: a sum that leaves costs out is no cost.
  [[nodiscard]] std::optional<double> spent() const {
    return unknown == 0 ? std::optional(known_spent) : std::nullopt;
  }
};

struct CostLedger {
  Account total;
  std::vector<Account> models;  // in order of first appearance
};

[[nodiscard]] CostLedger cost_ledger(std::span<const Expense> expenses);

// Which points no other point beats: none is at most as dear and at least as good, and better in
// one of the two. Points that are equal are all on the front.
struct Offer {
  double cost = 0;
  double worth = 0;
};

[[nodiscard]] std::vector<bool> pareto_front(std::span<const Offer> offers);

}  // namespace sweep::stats
