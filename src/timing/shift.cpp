#include "timing/shift.h"

#include "stats/stats.h"

#include <algorithm>
#include <cmath>

namespace sweep::timing {

double order_statistic(std::vector<double>& values, std::size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, place);
  return *place;
}

double outside_bound(double count, double variance, double error) {
  return count / 2 - stats::normal_quantile(1 - error) * std::sqrt(variance);
}

Shift rank_shift(const Strata& strata, double error) {
  std::vector<double> differences;
  double variance = 0;
  for (const auto& [number, pair] : strata) {
    const auto n = static_cast<double>(pair[0].size());
    const auto m = static_cast<double>(pair[1].size());
    variance += n * m * (n + m + 1) / 12;
    for (const double tested : pair[1]) {
      for (const double reference : pair[0]) {
        differences.push_back(tested - reference);
      }
    }
  }
  Shift shift;
  if (differences.empty()) {
    return shift;
  }
  shift.point = stats::median(differences);
  const double outside = outside_bound(static_cast<double>(differences.size()), variance, error);
  shift.bounded = outside >= 1;
  shift.low = shift.bounded ? order_statistic(differences, static_cast<std::size_t>(outside)) : 0;
  return shift;
}

namespace {

// Sum of squares about the stratum's mean, and its degrees of freedom.
struct Within {
  double squares = 0, degrees = 0;

  void add(const std::vector<double>& values) {
    if (values.size() > 1) {
      squares += stats::variance(values) * static_cast<double>(values.size() - 1);
      degrees += static_cast<double>(values.size() - 1);
    }
  }

  [[nodiscard]] double variance() const { return squares / degrees; }
};

}  // namespace

Shift mean_shift(const Strata& strata, double error) {
  std::array<Within, 2> within;
  std::array<double, 2> inverse{};  // sum of w^2 / n
  double weights = 0, sum = 0;
  for (const auto& [number, pair] : strata) {
    if (pair[0].empty() || pair[1].empty()) {
      continue;
    }
    const auto n = static_cast<double>(pair[0].size());
    const auto m = static_cast<double>(pair[1].size());
    const double w = n * m / (n + m);
    weights += w;
    sum += w * (stats::mean(pair[1]) - stats::mean(pair[0]));
    inverse[0] += w * w / n;
    inverse[1] += w * w / m;
    within[0].add(pair[0]);
    within[1].add(pair[1]);
  }
  Shift shift;
  if (!(weights > 0)) {
    return shift;
  }
  shift.point = sum / weights;
  if (within[0].degrees < 1 || within[1].degrees < 1) {
    return shift;
  }
  const double a = within[0].variance() * inverse[0] / (weights * weights);
  const double b = within[1].variance() * inverse[1] / (weights * weights);
  shift.bounded = true;
  shift.low = shift.point;
  if (a + b > 0) {
    const double degrees =
        (a + b) * (a + b) / (a * a / within[0].degrees + b * b / within[1].degrees);
    shift.low -= stats::student_t_quantile(1 - error, degrees) * std::sqrt(a + b);
  }
  return shift;
}

Shift sum_of(const Shift& first, double k, const Shift& second, double correlation) {
  Shift sum;
  sum.point = first.point + k * second.point;
  sum.bounded = first.bounded && second.bounded;
  if (sum.bounded) {
    const double one = first.point - first.low, other = k * (second.point - second.low);
    sum.low = sum.point - std::sqrt(one * one + other * other + 2 * correlation * one * other);
  }
  return sum;
}

}  // namespace sweep::timing
