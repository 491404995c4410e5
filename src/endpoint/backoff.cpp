#include "endpoint/backoff.h"

#include <algorithm>
#include <cmath>

namespace sweep::endpoint {

// SplitMix64 (Steele, Lea, Flood 2014).
double Backoff::uniform() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

double Backoff::delay(int failures, std::optional<double> asked) {
  if (asked) {
    const double wanted = std::max(*asked, 0.1);
    return wanted + uniform() * std::min(wanted / 4, 5.0);
  }
  const double whole =
      std::min(std::ldexp(retry_.first_delay, std::min(failures - 1, 30)), retry_.max_delay);
  return whole * (0.5 + 0.5 * uniform());
}

}  // namespace sweep::endpoint
