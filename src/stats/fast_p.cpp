#include "stats/fast_p.h"

#include "stats/require.h"

#include <algorithm>
#include <cstdint>

namespace sweep::stats {

namespace {

bool counts(const Judged& one, double p, Counting counting) {
  if (!one.correct) {
    return false;
  }
  return p <= 0 || (counting == Counting::point ? one.speedup : one.low) > p;
}

// The attempts by problem, each as how many of the rising thresholds it exceeds: a resample then
// costs a step an attempt, however many thresholds there are.
struct Exceeded {
  std::vector<std::vector<std::uint16_t>> problems;
  std::size_t thresholds = 0;
};

Exceeded exceeded_by(std::span<const Judged> judged,
                     std::span<const double> rising,
                     Counting counting) {
  Exceeded out;
  out.thresholds = rising.size();
  for (const Judged& one : judged) {
    require(one.problem < judged.size(), "fast_p: problems are numbered from 0 without gaps");
    out.problems.resize(std::max(out.problems.size(), one.problem + 1));
    const auto above = std::ranges::count_if(
        rising, [&](double threshold) { return counts(one, threshold, counting); });
    out.problems[one.problem].push_back(static_cast<std::uint16_t>(above));
  }
  return out;
}

// One list of shares a threshold, one share a resample.
std::vector<std::vector<double>> resampled(const Exceeded& exceeded, const Bootstrap& options) {
  std::vector<std::vector<double>> shares(exceeded.thresholds);
  std::vector<std::size_t> exactly(exceeded.thresholds + 1);
  for_each_resample(exceeded.problems.size(), options, [&](std::span<const std::uint32_t> drawn) {
    std::ranges::fill(exactly, 0);
    std::size_t all = 0;
    for (const std::uint32_t problem : drawn) {
      for (const std::uint16_t above : exceeded.problems[problem]) {
        ++exactly[above];
      }
      all += exceeded.problems[problem].size();
    }
    std::size_t more = 0;
    for (std::size_t i = exceeded.thresholds; i-- > 0;) {
      more += exactly[i + 1];
      shares[i].push_back(static_cast<double>(more) / static_cast<double>(all));
    }
  });
  return shares;
}

// Bands at the rising thresholds; empty with fewer than two problems.
std::vector<Interval> bands_of(const Exceeded& exceeded, const Bootstrap& options) {
  std::vector<Interval> out;
  if (exceeded.problems.size() < 2) {
    return out;
  }
  for (std::vector<double>& shares : resampled(exceeded, options)) {
    out.push_back(percentile_interval(std::move(shares), options.confidence));
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
  require(thresholds.size() < 1000, "fast_p: at most 999 thresholds");
  std::vector<double> rising(thresholds.begin(), thresholds.end());
  std::ranges::sort(rising);
  const Exceeded exceeded = exceeded_by(judged, rising, counting);
  const std::vector<Interval> bands = bands_of(exceeded, options);
  std::vector<Share> curve;
  for (const double p : thresholds) {
    Share one{p, fast_p(judged, p, counting), std::nullopt};
    if (one.share <= 0 || one.share >= 1) {
      const std::size_t all = exceeded.problems.size();
      one.band = wilson_interval(one.share <= 0 ? 0 : all, all, options.confidence);
    } else if (!bands.empty()) {
      one.band =
          bands[static_cast<std::size_t>(std::ranges::lower_bound(rising, p) - rising.begin())];
    }
    curve.push_back(one);
  }
  return curve;
}

}  // namespace sweep::stats
