#pragma once

#include "endpoint/client.h"

#include <cstdint>
#include <optional>

namespace sweep::endpoint {

// Delays between tries, with jitter from a keyed generator: the same seed gives the same waits.
class Backoff {
 public:
  explicit Backoff(const Retry& retry) : retry_(retry), state_(retry.jitter_seed) {}

  // Before try number `failures` + 1 (`failures` >= 1). `asked`: seconds the endpoint wants; then
  // the delay is that (at least 0.1 s) plus up to a quarter of it, at most 5 s; else uniform
  // between a half and the whole of first_delay * 2^(failures-1), at most max_delay.
  [[nodiscard]] double delay(int failures, std::optional<double> asked);

 private:
  double uniform();  // [0, 1)

  Retry retry_;
  std::uint64_t state_;
};

}  // namespace sweep::endpoint
