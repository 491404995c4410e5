#pragma once

#include "stats/resample.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sweep::stats {

// One judged attempt at a problem. An attempt that is not correct, or that is correct but was not
// timed, has a speedup of 0.
struct Judged {
  std::size_t problem = 0;  // a number from 0 without gaps; attempts at one problem share it
  bool correct = false;
  double speedup = 0;  // baseline time over kernel time; 0: none
  double low = 0;      // lower bound of its interval; 0: none
};

// What must exceed p: the measured speedup, or the lower bound of its interval. The point counts an
// unchanged kernel as faster than 1.0x about every second time; the lower bound rarely does.
enum class Counting { point, lower_bound };

// fast_p: share of all judged attempts that are correct with a speedup strictly above p >= 0.
// fast_0 is the correct share: correct attempts count there also where they were not timed.
// Empty input is std::invalid_argument.
[[nodiscard]] double fast_p(std::span<const Judged> judged, double p, Counting counting);

struct Share {
  double p = 0;
  double share = 0;
  std::optional<Interval> band;  // share_interval() at this p alone (pointwise); unset: one problem
};

// fast_p at every threshold, with the same resamples for all of them.
[[nodiscard]] std::vector<Share> fast_p_curve(std::span<const Judged> judged,
                                              std::span<const double> thresholds,
                                              Counting counting,
                                              const Bootstrap& options);

}  // namespace sweep::stats
