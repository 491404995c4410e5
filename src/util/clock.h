#pragma once

#include <string>

namespace sweep::util {

// Time as the harness sees it; passed in, so that tests need no waiting. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Seconds since an arbitrary start; never goes back.
  [[nodiscard]] virtual double monotonic() = 0;

  // Seconds since 1970-01-01 UTC.
  [[nodiscard]] virtual double wall() = 0;

  // Returns not before `seconds` have passed (at once when <= 0), also when signals arrive.
  virtual void sleep(double seconds) = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] double monotonic() override;
  [[nodiscard]] double wall() override;
  void sleep(double seconds) override;
};

// "2025-01-31T12:34:56.789Z" of seconds since 1970 (years 1970-9999; others are clamped).
[[nodiscard]] std::string iso_time(double wall_seconds);

}  // namespace sweep::util
