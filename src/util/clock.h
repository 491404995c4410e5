#pragma once

#include <string>
#include <utility>

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

// Times one part of a work after another.
class Stopwatch {
 public:
  // `clock` outlives this.
  explicit Stopwatch(Clock& clock) : clock_(clock), last_(clock.monotonic()) {}

  // Seconds since the last call, or since this was made.
  [[nodiscard]] double lap() {
    const double now = clock_.monotonic();
    return now - std::exchange(last_, now);
  }

 private:
  Clock& clock_;
  double last_;
};

// "2025-01-31T12:34:56.789Z" of seconds since 1970 (years 1970-9999; others are clamped).
[[nodiscard]] std::string iso_time(double wall_seconds);

}  // namespace sweep::util
