#pragma once

#include <array>
#include <map>
#include <vector>

namespace sweep::timing {

// Two samples in each stratum; [0] is what [1] is compared with.
using Strata = std::map<int, std::array<std::vector<double>, 2>>;

// How far [1] lies above [0] in each stratum.
struct Shift {
  double point = 0;
  double low = 0;        // lower confidence bound
  bool bounded = false;  // false: too little data for a bound
};

// Hodges-Lehmann: the median of all differences within the strata. The bound is the order statistic
// of the differences at which Wilcoxon's statistic, summed over the strata with variance
// n m (n + m + 1) / 12 each, has the one-sided `error`. No distribution is assumed.
[[nodiscard]] Shift rank_shift(const Strata& strata, double error);

// Difference of means, weighted over the strata by n m / (n + m); Welch's t with the variances
// within strata, for the one-sided `error`. Sees what a few values do, which ranks do not.
[[nodiscard]] Shift mean_shift(const Strata& strata, double error);

// first + k * second for k >= 0: the distances from points to bounds are added as those of two
// estimates with this correlation are (Zou 2008, doi 10.1016/j.csda.2007.09.024).
[[nodiscard]] Shift sum_of(const Shift& first, double k, const Shift& second, double correlation);

// The `rank`-th smallest of the values, from 1. Reorders them.
[[nodiscard]] double order_statistic(std::vector<double>& values, std::size_t rank);

// How many of `count` pairwise values lie outside a one-sided bound, where the statistic that
// counts them has this variance; below 1 there is no bound.
[[nodiscard]] double outside_bound(double count, double variance, double error);

}  // namespace sweep::timing
