#include "stats/fast_p.h"

#include "stats/require.h"

#include <algorithm>

namespace sweep::stats {

namespace {

bool counts(const Judged& one, double p, Counting counting) {
  if (!one.correct) {
    return false;
  }
  return p <= 0 || (counting == Counting::point ? one.speedup : one.low) > p;
}

Columns successes_of(std::span<const Judged> judged,
                     std::span<const double> thresholds,
                     Counting counting) {
  std::size_t problems = 0;
  for (const Judged& one : judged) {
    problems = std::max(problems, one.problem + 1);
  }
  require(problems <= judged.size(), "fast_p: problems are numbered from 0 without gaps");
  Columns out(problems, thresholds.size());
  std::vector<float> row(thresholds.size());
  for (const Judged& one : judged) {
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      row[i] = counts(one, thresholds[i], counting) ? 1.0F : 0.0F;
    }
    out.add(one.problem, row);
  }
  return out;
}

}  // namespace

double fast_p(std::span<const Judged> judged, double p, Counting counting) {
  require(!judged.empty() && p >= 0, "fast_p: needs judged attempts and p >= 0");
  const auto count =
      std::ranges::count_if(judged, [&](const Judged& one) { return counts(one, p, counting); });
  return static_cast<double>(count) / static_cast<double>(judged.size());
}

std::vector<Share> fast_p_curve(std::span<const Judged> judged,
                                std::span<const double> thresholds,
                                Counting counting,
                                const Bootstrap& options) {
  require(!judged.empty(), "fast_p: needs judged attempts");
  const Columns successes = successes_of(judged, thresholds, counting);
  const std::vector<Interval> bands = successes.intervals(options);
  std::vector<Share> curve;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    Share one{thresholds[i], fast_p(judged, thresholds[i], counting), std::nullopt};
    if (one.share <= 0 || one.share >= 1) {
      const std::size_t all = successes.problems();
      one.band = wilson_interval(one.share <= 0 ? 0 : all, all, options.confidence);
    } else if (!bands.empty()) {
      one.band = bands[i];
    }
    curve.push_back(one);
  }
  return curve;
}

}  // namespace sweep::stats
