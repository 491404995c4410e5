#include "timing/clocks.h"

#include "stats/stats.h"
#include "timing/guards.h"
#include "timing/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sweep::timing {
namespace {

constexpr double kError = 0.001;
constexpr double kLeastAllowance = 15e-6;
constexpr double kLaunchAllowance = 2e-6;
constexpr double kShare = 0.15;
constexpr double kShort = 0.05;          // that the slope may be below the events
constexpr double kRatiosBelow = 100e-6;  // of a call

// One-sided bounds of the mean.
struct Bounds {
  double low = 0, high = 0;
};

Bounds bounds(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double half = stats::student_t_quantile(1 - kError, n - 1) *
                      stats::standard_deviation(values) / std::sqrt(n);
  return {stats::mean(values) - half, stats::mean(values) + half};
}

ClockAgreement judge(const std::vector<double>& excess, double most, double least) {
  const Bounds found = bounds(excess);
  return found.low > most     ? ClockAgreement::events_low
         : found.high < least ? ClockAgreement::events_high
                              : ClockAgreement::agree;
}

}  // namespace

double clock_allowance(double events) {
  return std::max(kLeastAllowance, kShare * events);
}

ClockAgreement compare_clocks(std::span<const ClockReading> readings) {
  if (readings.size() < 2) {
    return ClockAgreement::agree;
  }
  std::vector<double> events, differences, ratios;
  for (const ClockReading& r : readings) {
    events.push_back(r.candidate_events);
    differences.push_back(r.candidate_slope - r.candidate_events);
    ratios.push_back(std::log(r.candidate_slope / r.seed_slope) -
                     std::log(r.candidate_events / r.seed_events));
  }
  const double typical = stats::median(events);
  return typical < kRatiosBelow ? judge(ratios, std::log1p(kShare), std::log1p(-kShort))
                                : judge(differences, clock_allowance(typical), -kShort * typical);
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
    const Shift shift = rank_shift(excess[s], kError / static_cast<double>(launches.size()));
    const double typical = events[s].empty() ? 0 : stats::median(events[s]);
    const HiddenTime found{{shift.point, shift.bounded ? std::max(shift.low, 0.0) : 0},
                           clock_allowance(typical) + kLaunchAllowance * launches[s]};
    const auto share = [](const HiddenTime& h) {
      return std::pair(h.seconds.low / h.limit, h.seconds.point / h.limit);
    };
    if (!worst || share(found) > share(*worst)) {
      worst = found;
    }
  }
  return worst.value_or(HiddenTime{});
}

}  // namespace sweep::timing
