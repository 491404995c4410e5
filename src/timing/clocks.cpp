#include "timing/clocks.h"

#include "stats/stats.h"
#include "timing/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sweep::timing {
namespace {

constexpr double kClockError = 0.001;
constexpr double kLeastAllowance = 15e-6;
constexpr double kLaunchAllowance = 2e-6;
constexpr double kShare = 0.15;

// The one that is nearest to its limit or furthest above.
bool worse_than(const HiddenTime& a, const HiddenTime& b) {
  const auto share = [](const HiddenTime& h) {
    return std::pair(h.seconds.low / h.limit, h.seconds.point / h.limit);
  };
  return share(a) > share(b);
}

}  // namespace

double clock_allowance(double events) {
  return std::max(kLeastAllowance, kShare * events);
}

HiddenTime slope_gap(std::span<const std::vector<ClockReading>> readings,
                     std::span<const int> launches) {
  std::optional<HiddenTime> worst;
  for (std::size_t s = 0; s < readings.size(); ++s) {
    std::vector<double> excess, events;
    for (const ClockReading& r : readings[s]) {
      excess.push_back((r.candidate_slope - r.candidate_events) - (r.seed_slope - r.seed_events));
      events.push_back(r.candidate_events);
    }
    if (excess.empty()) {
      continue;
    }
    HiddenTime found{{stats::mean(excess), 0},
                     clock_allowance(stats::median(events)) + kLaunchAllowance * launches[s]};
    if (excess.size() > 1) {
      const auto n = static_cast<double>(excess.size());
      const double error = kClockError / static_cast<double>(readings.size());
      const double half = stats::student_t_quantile(1 - error, n - 1) *
                          stats::standard_deviation(excess) / std::sqrt(n);
      found.seconds.low = std::max(found.seconds.point - half, 0.0);
    }
    if (!worst || worse_than(found, *worst)) {
      worst = found;
    }
  }
  return worst.value_or(HiddenTime{});
}

HiddenTime hidden_time(std::span<const Call> calls, std::span<const int> launches) {
  std::vector<Strata> excess(launches.size());
  std::vector<std::vector<double>> events(launches.size());
  for (const Call& call : calls) {
    if (!(call.device_seconds > 0) || !std::isfinite(call.host_seconds)) {
      continue;
    }
    const auto shape = static_cast<std::size_t>(call.shape);
    const std::size_t group = call.arm == Arm::candidate ? 1 : 0;
    excess.at(shape)[call.replicate].at(group).push_back(call.host_seconds - call.device_seconds);
    if (group == 1) {
      events.at(shape).push_back(call.device_seconds);
    }
  }
  std::optional<HiddenTime> worst;
  for (std::size_t s = 0; s < excess.size(); ++s) {
    const Shift shift = rank_shift(excess[s], kClockError / static_cast<double>(launches.size()));
    const double typical = events[s].empty() ? 0 : stats::median(events[s]);
    const HiddenTime found{{shift.point, shift.bounded ? std::max(shift.low, 0.0) : 0},
                           clock_allowance(typical) + kLaunchAllowance * launches[s]};
    if (!worst || worse_than(found, *worst)) {
      worst = found;
    }
  }
  return worst.value_or(HiddenTime{});
}

}  // namespace sweep::timing
