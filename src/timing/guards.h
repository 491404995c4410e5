#pragma once

#include "timing/samples.h"

#include <span>

namespace sweep::timing {

// A disturbance that was looked for. It decides by what is certain of it, not by the estimate: a
// guard that compared `point` with its limit would fire on noise.
struct Guard {
  double point = 0;  // estimate
  double low = 0;    // lower confidence bound; 0 where the data allow nothing
};

// How much the seed's times changed over a replicate, relative, of the shape with the largest lower
// bound (among equals, the largest estimate).
//
// For each shape the logarithm of the seed's times is taken to be a level of the replicate, a trend
// common to all replicates and independent errors of any distribution. `point` is from the median
// of the slopes between all pairs of calls of one replicate (Theil and Sen; in strata: Hirsch,
// Slack and Smith 1982, doi 10.1029/WR018i001p00107), times a replicate's length in calls; `low` is
// from the order statistic of these slopes that Kendall's variance gives, at 1% for one side,
// divided by the number of shapes. What the contents of a shape cost differently, outliers and a
// level that differs between processes thereby widen the bound and do not count as drift.
//
// `calls` in order of time, of `shapes` shapes. The candidate's times are not looked at: they could
// otherwise bring a repetition about.
[[nodiscard]] Guard drift(std::span<const Call> calls, int shapes);

}  // namespace sweep::timing
