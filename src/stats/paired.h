#pragma once

#include "stats/resample.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

// Tests of two things on the same problems.
namespace sweep::stats {

// Two-sided exact sign test: p-value of `positive` and `negative` signs when both are equally
// likely; ties are left out by the caller. 1 without signs.
[[nodiscard]] double sign_test(std::uint64_t positive, std::uint64_t negative);

// How two things did on the same problems.
struct Agreement {
  std::uint64_t both = 0;  // solved by both
  std::uint64_t only_first = 0;
  std::uint64_t only_second = 0;
  std::uint64_t neither = 0;

  [[nodiscard]] std::uint64_t n() const { return both + only_first + only_second + neither; }
};

// McNemar's exact test: the two-sided sign test over the problems that only one of them solved.
[[nodiscard]] double mcnemar_exact(const Agreement& agreement);

// One problem's speedups by two things, both > 0.
struct Pair {
  double first = 0;
  double second = 0;
};

// Second over first, problem by problem.
struct PairedRatio {
  double ratio = 1;                  // geometric mean
  std::optional<Interval> interval;  // bootstrap over problems; unset: one problem
  std::size_t n = 0;
  std::uint64_t higher = 0;  // problems where second > first
  std::uint64_t lower = 0;
  double p_value = 1;  // sign_test(higher, lower)
};

// Empty input and speedups that are not > 0 are std::invalid_argument.
[[nodiscard]] PairedRatio paired_ratio(std::span<const Pair> pairs, const Bootstrap& options);

}  // namespace sweep::stats
