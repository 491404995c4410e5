#include "endpoint/backoff.h"

#include <algorithm>
#include <cmath>

namespace sweep::endpoint {
namespace {

constexpr double kShortest = 0.5;    // seconds
constexpr double kServerCap = 30.0;  // an overloaded server is asked again sooner than a rate limit

}  // namespace

// SplitMix64 (Steele, Lea, Flood 2014).
double Backoff::uniform() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

double Backoff::delay(int failures, std::optional<double> asked, bool rate_limited) {
  if (asked) {
    const double wanted = std::max(*asked, kShortest);
    return wanted + uniform() * std::min(wanted, 5.0);
  }
  const double cap = rate_limited ? retry_.max_delay : std::min(retry_.max_delay, kServerCap);
  const double most =
      std::min(std::ldexp(retry_.first_delay, std::clamp(failures - 1, 0, 30)), cap);
  return most <= kShortest ? most : kShortest + uniform() * (most - kShortest);
}

}  // namespace sweep::endpoint
