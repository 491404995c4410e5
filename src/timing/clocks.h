#pragma once

#include "timing/guards.h"

#include <span>
#include <vector>

namespace sweep::timing {

// Time of a call in one replicate, in seconds: median by events, and by the judge's slope clock
// (the time that more calls add to a round trip between judge and runner, for each call), which no
// runner can forge. A slope holds what handing over a call and flushing before it take as well.
struct ClockReading {
  double seed_events = 0, candidate_events = 0;
  double seed_slope = 0, candidate_slope = 0;
};

// readings[s]: of shape s, one for each replicate; launches[s]: of the candidate's plan. How much
// longer a call of the candidate takes by the judge's clock than its events say, beyond what a call
// of the seed does: handing over and flushing cost both arms the same, and the seed is trusted.
// `low` is Student's t over the replicates at 0.1% for all shapes together; below two readings of a
// shape it is 0. Found above max(15 us, 15% of the candidate's time) + 2 us for each launch, as for
// hidden_time(), of the shape that is nearest to its limit or furthest above.
//
// Ratios of slopes are not compared: with 7 us to hand over a call, kernels of 20 and 10 us have
// slopes of ratio 1.59, and an honest gain would read as a disagreement. Events that say more than
// the call took make a kernel slower and are no matter.
[[nodiscard]] HiddenTime slope_gap(std::span<const std::vector<ClockReading>> readings,
                                   std::span<const int> launches);

// Limit of what the host's or the judge's clock may see beyond `events` seconds of a call.
[[nodiscard]] double clock_allowance(double events);

}  // namespace sweep::timing
