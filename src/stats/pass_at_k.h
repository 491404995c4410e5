#pragma once

#include "stats/resample.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sweep::stats {

// Chance that at least one of k attempts drawn from n attempts, of which c succeeded, is a success:
// 1 - C(n - c, k) / C(n, k), the unbiased estimate of pass@k. 1 <= k <= n, c <= n.
[[nodiscard]] double pass_estimate(std::uint64_t n, std::uint64_t c, std::uint64_t k);

// One attempt at a problem, a conversation of its own.
struct Unit {
  std::string problem;
  std::string configuration;  // equal for attempts that were made under the same conditions
  std::string seed;  // of the sampling; empty: the endpoint drew one afresh for this attempt
  bool solved = false;
};

struct PassAtK {
  std::optional<double> value;       // mean over problems; unset: not applicable
  std::optional<Interval> interval;  // bootstrap over problems; unset: one problem
  std::size_t problems = 0;          // that the value is over
  std::size_t units = 0;             // attempts at them
  std::string why_not;               // why there is no value; empty: there is one
};

// pass@k over problems. It is defined over independent attempts under equal conditions only; where
// the units are something else the answer says why not: no units, fewer than k attempts at some
// problem, attempts under unlike configurations, or two attempts with the same seed.
[[nodiscard]] PassAtK pass_at_k(std::span<const Unit> units,
                                std::uint64_t k,
                                const Bootstrap& options);

}  // namespace sweep::stats
