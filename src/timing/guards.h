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

// The one with the larger lower bound; among equals, the larger estimate.
[[nodiscard]] constexpr Guard worse(const Guard& a, const Guard& b) {
  const bool second = b.low > a.low || (b.low >= a.low && b.point > a.point);
  return second ? b : a;
}

// How much the seed's times changed over a replicate, relative, of the shape with the largest lower
// bound (among equals, the largest estimate).
//
// For each shape the logarithm of the seed's times, a mean for each block, is taken to be a level
// of the replicate, a trend common to all replicates and independent errors of any distribution.
// Two calls of one block are not set against each other: they are a few calls apart, so that a
// second call on one content that is 0.1% faster (seen on an H200) would be a slope of 4% over a
// replicate; and a trend within a block cancels by its order. `point` is from the median of the
// slopes between all pairs of blocks of one replicate (Theil and Sen; in strata: Hirsch,
// Slack and Smith 1982, doi 10.1029/WR018i001p00107), times a replicate's length in calls; `low` is
// from the order statistic of these slopes that Kendall's variance gives, at 1% for one side,
// divided by the number of shapes. What the contents of a shape cost differently, outliers and a
// level that differs between processes thereby widen the bound and do not count as drift.
//
// `calls` in order of time, of `shapes` shapes. The candidate's times are not looked at: they could
// otherwise bring a repetition about.
[[nodiscard]] Guard drift(std::span<const Call> calls, int shapes);

// How much longer the seed takes when the call before it was the candidate's than when it was the
// seed's, less how much longer the candidate takes after the seed than after itself; a share of the
// seed's time, of the shape with the largest lower bound. Positive where the candidate leaves
// something behind that slows the seed, which would pass for a speedup. What both lose alike is no
// such thing: a process whose call comes after another process's takes 0.3 to 1.2 us longer on an
// H200, which is 3% of a kernel of 20 us; it slows both arms equally often.
//
// With y = log seed / candidate on one content (contents cancel), y_o where each came after the
// other, y_s where both came after the seed, y_c where both came after the candidate, and k the
// candidate's time in the seed's: (y_o - y_s) + k (y_o - y_c) by ranks. Beside it the mean of all
// y_o and y_c less that of y_s, and k plus the share of y_c times the same y_o - y_c by ranks: it
// sees a minority of calls that are slowed much. A candidate that feigns a loss, to have it taken
// off, may choose the calls in which it does, so that the ratio pays for less of it; hence the same
// from the means of either arm's times by predecessor, which contents that cost different times
// blur. Replicates are strata, bounds as in shift.h, and the largest counts. A bound is above the
// truth in 0.1% for all of these together.
// Contents with a call whose predecessor is unknown (the first of a replicate, one after a call
// that failed) are left out.
[[nodiscard]] Guard carryover(std::span<const Call> calls, int shapes);

// Where the candidate ran for longer by the host's clock than its events say.
struct HiddenTime {
  Guard seconds;     // of a call, of the shape that is nearest to its limit or furthest above
  double limit = 0;  // max(15 us, 15% of the candidate's time by events) + 2 us for each launch

  [[nodiscard]] bool found() const { return seconds.low > limit; }
};

// Host time less event time of a call, the candidate's above the seed's: launching and waiting cost
// both arms the same, but for what a graph of more launches takes the host, which the limit allows
// for. Ranks, with replicates as strata; a bound is above the truth in 0.1% for all shapes
// together. launches[s]: of the candidate's plan for shape s.
[[nodiscard]] HiddenTime hidden_time(std::span<const Call> calls, std::span<const int> launches);

}  // namespace sweep::timing
