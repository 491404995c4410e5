#include "util/clock.h"

#include "util/error.h"
#include "util/fake_clock.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace sweep::util {

namespace {

double read_clock(clockid_t id) {
  timespec now{};
  if (::clock_gettime(id, &now) != 0) {
    throw_errno("clock_gettime", "clock");
  }
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double RealClock::monotonic() {
  return read_clock(CLOCK_MONOTONIC);
}

double RealClock::wall() {
  return read_clock(CLOCK_REALTIME);
}

void RealClock::sleep(double seconds) {
  if (!(seconds > 0)) {
    return;
  }
  const double whole = std::floor(std::min(seconds, 1e9));
  timespec left{static_cast<time_t>(whole),
                static_cast<long>(std::clamp((seconds - whole) * 1e9, 0.0, 999999999.0))};
  int error = 0;
  do {
    error = ::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left);
  } while (error == EINTR);
}

double FakeClock::monotonic() {
  const std::lock_guard lock(mutex_);
  return now_;
}

double FakeClock::wall() {
  const std::lock_guard lock(mutex_);
  return wall_start_ + now_;
}

void FakeClock::sleep(double seconds) {
  const std::lock_guard lock(mutex_);
  slept_.push_back(seconds);
  now_ += std::max(0.0, seconds);
}

void FakeClock::advance(double seconds) {
  const std::lock_guard lock(mutex_);
  now_ += std::max(0.0, seconds);
}

std::vector<double> FakeClock::slept() {
  const std::lock_guard lock(mutex_);
  return slept_;
}

std::string iso_time(double wall_seconds) {
  constexpr double kYear9999 = 253402300799.0;
  const double clamped =
      std::clamp(std::isfinite(wall_seconds) ? wall_seconds : 0.0, 0.0, kYear9999);
  const auto total_ms = static_cast<long long>(std::floor(clamped * 1000));
  const auto seconds = static_cast<time_t>(total_ms / 1000);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     parts.tm_year + 1900,
                     parts.tm_mon + 1,
                     parts.tm_mday,
                     parts.tm_hour,
                     parts.tm_min,
                     parts.tm_sec,
                     total_ms % 1000);
}

}  // namespace sweep::util
