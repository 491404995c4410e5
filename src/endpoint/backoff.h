#pragma once

#include "endpoint/client.h"

#include <cstdint>
#include <optional>

namespace sweep::endpoint {

// Delays between tries, with jitter from a keyed generator: the same seed gives the same waits.
class Backoff {
 public:
  explicit Backoff(const Retry& retry) : retry_(retry), state_(retry.jitter_seed) {}

  // Seconds before the try that follows `failures` failed ones (>= 1) of its kind. `asked`: seconds
  // that the endpoint wants; then that (at least 0.5 s) plus a random part of it, at most 5 s. Else
  // uniform between 0.5 s and first_delay * 2^(failures-1), which is at most max_delay after a rate
  // limit and 30 s after another failure.
  [[nodiscard]] double delay(int failures, std::optional<double> asked, bool rate_limited);

 private:
  double uniform();  // [0, 1)

  Retry retry_;
  std::uint64_t state_;
};

}  // namespace sweep::endpoint
