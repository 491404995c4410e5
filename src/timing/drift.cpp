#include "stats/stats.h"
#include "timing/guards.h"
#include "timing/shift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace sweep::timing {
namespace {

constexpr double kDriftError =
    0.01;  // chance that a lower bound is above the truth, all shapes together

// Of the seed's calls of one block, means.
struct Point {
  double when = 0;  // 0..1 of the replicate
  double log_seconds = 0;
  int calls = 0;
};

using Replicates = std::map<int, std::vector<Point>>;

// points[shape][replicate], the seed's only, a block each.
std::vector<Replicates> seed_points(std::span<const Call> calls, int shapes) {
  std::map<int, int> length;
  for (const Call& call : calls) {
    ++length[call.replicate];
  }
  std::map<int, int> next;
  std::vector<std::map<std::pair<int, int>, Point>> blocks(
      static_cast<std::size_t>(std::max(shapes, 0)));
  for (const Call& call : calls) {
    const int at = next[call.replicate]++;
    if (call.arm != Arm::seed || !(call.device_seconds > 0) ||
        !std::isfinite(call.device_seconds)) {
      continue;
    }
    Point& block = blocks.at(static_cast<std::size_t>(call.shape))[{call.replicate, call.block}];
    block.when += static_cast<double>(at) / std::max(length[call.replicate] - 1, 1);
    block.log_seconds += std::log(call.device_seconds);
    ++block.calls;
  }
  std::vector<Replicates> points(blocks.size());
  for (std::size_t shape = 0; shape < blocks.size(); ++shape) {
    for (const auto& [key, block] : blocks[shape]) {
      points[shape][key.first].push_back(
          {block.when / block.calls, block.log_seconds / block.calls, block.calls});
    }
  }
  return points;
}

// Change of the logarithm over a replicate: estimate and its two bounds.
struct Slope {
  double point = 0, low = 0, high = 0;
  bool bounded = false;
};

Slope slope_of(const Replicates& replicates, double error) {
  std::vector<double> slopes;
  double variance = 0;  // of Kendall's S, summed over the strata
  for (const auto& [replicate, points] : replicates) {
    const auto n = static_cast<double>(points.size());
    variance += n * (n - 1) * (2 * n + 5) / 18;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = i + 1; j < points.size(); ++j) {
        slopes.push_back((points[j].log_seconds - points[i].log_seconds) /
                         (points[j].when - points[i].when));
      }
    }
  }
  Slope slope;
  if (slopes.empty()) {
    return slope;
  }
  slope.point = stats::median(slopes);
  // S counts rising less falling pairs, so half of it counts one kind.
  const double outside = outside_bound(static_cast<double>(slopes.size()), variance / 4, error);
  slope.bounded = outside >= 1;
  if (slope.bounded) {
    const auto rank = static_cast<std::size_t>(outside);
    slope.low = order_statistic(slopes, rank);
    slope.high = order_statistic(slopes, slopes.size() + 1 - rank);
  }
  return slope;
}

Guard guard_of(const Slope& slope) {
  Guard guard{std::abs(std::expm1(slope.point)), 0};
  if (slope.bounded && slope.low > 0) {
    guard.low = std::expm1(slope.low);
  } else if (slope.bounded && slope.high < 0) {
    guard.low = -std::expm1(slope.high);
  }
  return guard;
}

}  // namespace

Guard drift(std::span<const Call> calls, int shapes) {
  Guard worst;
  for (const Replicates& replicates : seed_points(calls, shapes)) {
    const Guard guard = guard_of(slope_of(replicates, kDriftError / shapes));
    worst = worse(worst, guard);
  }
  return worst;
}

}  // namespace sweep::timing
