#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

// Pure functions. Empty or otherwise impossible input is std::invalid_argument: callers check what
// they measured.
namespace sweep::stats {

[[nodiscard]] double mean(std::span<const double> values);

// Unbiased sample variance (divisor n - 1); needs two values.
[[nodiscard]] double variance(std::span<const double> values);
[[nodiscard]] double standard_deviation(std::span<const double> values);

[[nodiscard]] double median(std::span<const double> values);

// Hyndman-Fan type 7 (linear between order statistics); 0 <= p <= 1.
[[nodiscard]] double quantile(std::span<const double> values, double p);
[[nodiscard]] double quantile_of_sorted(std::span<const double> rising, double p);

// exp of the mean logarithm; all values > 0.
[[nodiscard]] double geometric_mean(std::span<const double> values);

// Median of the distances from the median (not scaled).
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

// Distribution function and quantile of the standard normal; 0 < p < 1. Absolute error below 1e-12
// for |z| < 8.
[[nodiscard]] double normal_cdf(double z);
[[nodiscard]] double normal_quantile(double p);

// I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

// Student's t with `degrees` > 0 (not necessarily whole).
[[nodiscard]] double student_t_cdf(double t, double degrees);
[[nodiscard]] double student_t_quantile(double p, double degrees);

// Two-sided interval of the mean, `confidence` in (0, 1); needs two values.
[[nodiscard]] Interval mean_interval(std::span<const double> values, double confidence);

// The same on logarithms: interval of the geometric mean; all values > 0. For ratios of times.
[[nodiscard]] Interval geometric_mean_interval(std::span<const double> values, double confidence);

// Wilson's score interval of a proportion (without continuity correction); trials >= 1, successes
// <= trials.
[[nodiscard]] Interval wilson_interval(std::uint64_t successes,
                                       std::uint64_t trials,
                                       double confidence);

// Counter-based random numbers: the n-th number of (seed, stream) is fixed for all machines and
// builds. SplitMix64's mixer over a key; for resampling and permutations, not for secrets.
class KeyedRandom {
 public:
  KeyedRandom(std::uint64_t seed, std::string_view stream);

  [[nodiscard]] std::uint64_t next();

  // Uniform in [0, bound), unbiased; bound >= 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);

  // Uniform in [0, 1), 53 bits.
  [[nodiscard]] double unit();

 private:
  std::uint64_t state_;
};

// Percentile bootstrap: every stratum is resampled to its own size, `statistic` is computed on the
// resampled strata, and the interval spans the (1 +- confidence) / 2 quantiles of `resamples`
// results. The same random state gives the same interval.
using Strata = std::vector<std::vector<double>>;
[[nodiscard]] Interval bootstrap_interval(const Strata& strata,
                                          const std::function<double(const Strata&)>& statistic,
                                          double confidence,
                                          std::size_t resamples,
                                          KeyedRandom random);

}  // namespace sweep::stats
