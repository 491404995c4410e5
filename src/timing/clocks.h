#pragma once

#include <span>

namespace sweep::timing {

// Median time of a call in one replicate, in seconds: by events, and by the judge's slope clock
// (the time that more calls add to a round trip between judge and runner, for each call).
struct ClockReading {
  double seed_events = 0, candidate_events = 0;
  double seed_slope = 0, candidate_slope = 0;
};

enum class ClockAgreement {
  agree,       // or too few readings to say otherwise
  events_low,  // the candidate's events leave out time that the slope sees
  events_high  // events of a call say more than the call took
};

// Readings of a shape, one for each replicate; all values > 0. The candidate's slope may exceed its
// events by max(15 us, 15%) and fall short of them by 5%. Where its events are below 100 us,
// handing over a call takes a share of the slope that no limit in seconds can allow for: there the
// ratio candidate / seed by the slope may exceed that by events by 15% and fall short by 5%. A
// disagreement is one only if Student's t over the replicates bounds it beyond the limit at 99.9%
// (one side); with fewer than two readings the clocks agree.
[[nodiscard]] ClockAgreement compare_clocks(std::span<const ClockReading> readings);

// Limit of what the host's or the judge's clock may see beyond `events` seconds of a call.
[[nodiscard]] double clock_allowance(double events);

}  // namespace sweep::timing
