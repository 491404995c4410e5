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

// Successes of every problem at every threshold: row `problem`, column `threshold`. The last column
// counts the attempts.
struct Successes {
  std::size_t problems = 0;
  std::size_t columns = 0;
  std::vector<float> cells;  // whole numbers below 2^24

  [[nodiscard]] const float* row(std::size_t problem) const {
    return cells.data() + problem * columns;
  }
};

Successes successes_of(std::span<const Judged> judged,
                       std::span<const double> thresholds,
                       Counting counting) {
  Successes out;
  for (const Judged& one : judged) {
    out.problems = std::max(out.problems, one.problem + 1);
  }
  require(out.problems <= judged.size(), "fast_p: problems are numbered from 0 without gaps");
  out.columns = thresholds.size() + 1;
  out.cells.assign(out.problems * out.columns, 0);
  for (const Judged& one : judged) {
    float* row = out.cells.data() + one.problem * out.columns;
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      row[i] += counts(one, thresholds[i], counting) ? 1.0F : 0.0F;
    }
    row[thresholds.size()] += 1;
  }
  return out;
}

// One list of shares a threshold, one share a resample.
std::vector<std::vector<double>> resampled(const Successes& successes, const Bootstrap& options) {
  const std::size_t last = successes.columns - 1;
  std::vector<std::vector<double>> shares(last);
  std::vector<float> sums(successes.columns);
  for_each_resample(successes.problems, options, [&](std::span<const std::uint32_t> drawn) {
    std::ranges::fill(sums, 0.0F);
    for (const std::uint32_t problem : drawn) {
      const float* row = successes.row(problem);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += row[i];
      }
    }
    for (std::size_t i = 0; i < last; ++i) {
      shares[i].push_back(static_cast<double>(sums[i]) / static_cast<double>(sums[last]));
    }
  });
  return shares;
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
  const Successes successes = successes_of(judged, thresholds, counting);
  std::vector<std::vector<double>> shares;
  if (successes.problems >= 2) {
    shares = resampled(successes, options);
  }
  std::vector<Share> curve;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    Share one{thresholds[i], fast_p(judged, thresholds[i], counting), std::nullopt};
    if (one.share <= 0 || one.share >= 1) {
      const std::size_t all = successes.problems;
      one.band = wilson_interval(one.share <= 0 ? 0 : all, all, options.confidence);
    } else if (!shares.empty()) {
      one.band = percentile_interval(std::move(shares[i]), options.confidence);
    }
    curve.push_back(one);
  }
  return curve;
}

}  // namespace sweep::stats
