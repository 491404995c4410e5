#include "stats/require.h"
#include "stats/stats.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace sweep::stats {

namespace {

// Continued fraction of I_x(a, b), DLMF 8.17.22, by the modified Lentz method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxSteps = 10000;
  const auto guard = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / guard(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    const double step = d * c;
    result *= step;
    if (std::abs(step - 1) < 4 * std::numeric_limits<double>::epsilon()) {
      return result;
    }
  }
  return result;
}

// Smallest z in [low, high] with f(z) >= p for a rising f, to the last bit.
template <typename F>
double invert(F f, double p, double low, double high) {
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) {
      break;
    }
    (f(middle) < p ? low : high) = middle;
  }
  return high;
}

// P(T > t) for t >= 0. For |t| below 1 the complement is taken, so that neither form cancels.
double student_t_tail(double t, double degrees) {
  const double t2 = t * t;
  if (t2 < degrees) {
    return 0.5 - 0.5 * incomplete_beta(0.5, degrees / 2, t2 / (degrees + t2));
  }
  return 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t2));
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_quantile(double p) {
  require(p > 0 && p < 1, "normal_quantile: p must be in (0, 1)");
  // erfc keeps its relative precision in the lower tail only; mirror the upper half.
  if (p > 0.5) {
    return -normal_quantile(1 - p);
  }
  // -38.5 is below the quantile of the smallest normal double.
  return invert(normal_cdf, p, -40.0, 0.0);
}

double incomplete_beta(double a, double b, double x) {
  require(a > 0 && b > 0 && x >= 0 && x <= 1, "incomplete_beta: a, b > 0 and x in [0, 1]");
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double log_front =
      a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  const double front = std::exp(log_front);
  // The fraction converges fast on this side; the other side is the mirror image.
  if (x < (a + 1) / (a + b + 2)) {
    return front * beta_fraction(a, b, x) / a;
  }
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t_cdf(double t, double degrees) {
  require(degrees > 0 && !std::isnan(t), "student_t_cdf: degrees must be > 0");
  if (std::isinf(t)) {
    return t < 0 ? 0 : 1;
  }
  const double tail = student_t_tail(std::abs(t), degrees);
  return t < 0 ? tail : 1 - tail;
}

double student_t_quantile(double p, double degrees) {
  require(p > 0 && p < 1 && degrees > 0, "student_t_quantile: p in (0, 1), degrees > 0");
  if (p == 0.5) {
    return 0;
  }
  const double tail = p < 0.5 ? p : 1 - p;
  double high = 1;
  while (student_t_tail(high, degrees) > tail && high < 1e300) {
    high *= 2;
  }
  const double t =
      invert([&](double at) { return -student_t_tail(at, degrees); }, -tail, 0.0, high);
  return p < 0.5 ? -t : t;
}

}  // namespace sweep::stats
