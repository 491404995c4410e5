#include "stats/stats.h"

#include "stats/require.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sweep::stats {

namespace {

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    require(value > 0, "geometric mean: every value must be > 0");
    logs.push_back(std::log(value));
  }
  return logs;
}

}  // namespace

double mean(std::span<const double> values) {
  require(!values.empty(), "mean: no values");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(std::span<const double> values) {
  require(values.size() >= 2, "variance: needs two values");
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - center) * (value - center);
  }
  return squares / static_cast<double>(values.size() - 1);
}

double standard_deviation(std::span<const double> values) {
  return std::sqrt(variance(values));
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double quantile(std::span<const double> values, double p) {
  require(!values.empty() && p >= 0 && p <= 1, "quantile: needs values and p in [0, 1]");
  std::vector<double> sorted(values.begin(), values.end());
  require(std::ranges::none_of(sorted, [](double v) { return std::isnan(v); }),
          "quantile: a value is not a number");
  std::ranges::sort(sorted);
  return quantile_of_sorted(sorted, p);
}

double quantile_of_sorted(std::span<const double> rising, double p) {
  require(!rising.empty() && p >= 0 && p <= 1, "quantile: needs values and p in [0, 1]");
  const double at = p * static_cast<double>(rising.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, rising.size() - 1);
  const double share = at - static_cast<double>(below);
  // Equal neighbours stay exact, also when they are infinite.
  if (share <= 0 || rising[below] == rising[above]) {
    return rising[below];
  }
  return rising[below] + share * (rising[above] - rising[below]);
}

double geometric_mean(std::span<const double> values) {
  return std::exp(mean(logarithms(values)));
}

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) {
    distances.push_back(std::abs(value - center));
  }
  return median(distances);
}

Interval mean_interval(std::span<const double> values, double confidence) {
  require(values.size() >= 2 && confidence > 0 && confidence < 1,
          "mean_interval: needs two values and a confidence in (0, 1)");
  const auto n = static_cast<double>(values.size());
  const double half =
      student_t_quantile((1 + confidence) / 2, n - 1) * standard_deviation(values) / std::sqrt(n);
  const double center = mean(values);
  return {center - half, center + half};
}

Interval geometric_mean_interval(std::span<const double> values, double confidence) {
  const Interval logs = mean_interval(logarithms(values), confidence);
  return {std::exp(logs.low), std::exp(logs.high)};
}

Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  require(trials >= 1 && successes <= trials && confidence > 0 && confidence < 1,
          "wilson_interval: needs trials >= successes and a confidence in (0, 1)");
  const double z = normal_quantile((1 + confidence) / 2);
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double scale = 1 + z * z / n;
  const double center = (p + z * z / (2 * n)) / scale;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
  // At 0 and n successes the bound is exact; rounding must not leave it outside.
  return {successes == 0 ? 0 : std::max(0.0, center - half),
          successes == trials ? 1 : std::min(1.0, center + half)};
}

KeyedRandom::KeyedRandom(std::uint64_t seed, std::string_view stream) : state_(seed) {
  // FNV-1a over the stream's name, then one mixing step so that close seeds are far apart.
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : stream) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  state_ ^= hash;
  state_ = next();
}

std::uint64_t KeyedRandom::next() {
  // SplitMix64: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::uint64_t KeyedRandom::below(std::uint64_t bound) {
  require(bound >= 1, "below: bound must be >= 1");
  // Values under 2^64 mod bound would make small results more likely.
  const std::uint64_t reject = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= reject) {
      return value % bound;
    }
  }
}

double KeyedRandom::unit() {
  return static_cast<double>(next() >> 11U) * 0x1p-53;
}

Interval bootstrap_interval(const Strata& strata,
                            const std::function<double(const Strata&)>& statistic,
                            double confidence,
                            std::size_t resamples,
                            KeyedRandom random) {
  require(confidence > 0 && confidence < 1 && resamples >= 1 && !strata.empty(),
          "bootstrap: needs strata, resamples and a confidence in (0, 1)");
  require(std::ranges::none_of(strata, [](const auto& s) { return s.empty(); }),
          "bootstrap: an empty stratum");
  std::vector<double> results;
  results.reserve(resamples);
  Strata drawn = strata;
  for (std::size_t r = 0; r < resamples; ++r) {
    for (std::size_t s = 0; s < strata.size(); ++s) {
      for (double& value : drawn[s]) {
        value = strata[s][random.below(strata[s].size())];
      }
    }
    results.push_back(statistic(drawn));
  }
  const double tail = (1 - confidence) / 2;
  return {quantile(results, tail), quantile(results, 1 - tail)};
}

}  // namespace sweep::stats
