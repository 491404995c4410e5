#pragma once

#include "util/clock.h"

#include <mutex>
#include <vector>

namespace sweep::util {

// A clock that moves only by advance() and sleep(). For tests.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(double wall_seconds = 1.7e9) : wall_start_(wall_seconds) {}

  [[nodiscard]] double monotonic() override;
  [[nodiscard]] double wall() override;

  // Moves the time and returns at once; the wish is kept in slept().
  void sleep(double seconds) override;

  void advance(double seconds);

  // All sleeps asked for, in order.
  [[nodiscard]] std::vector<double> slept();

 private:
  std::mutex mutex_;
  double wall_start_;
  double now_ = 0;
  std::vector<double> slept_;
};

}  // namespace sweep::util
