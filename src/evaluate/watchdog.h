#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sweep::evaluate {

// Calls `expired` once on a thread of its own, unless it is destroyed within `seconds` of its
// making. Destruction waits for a call that has begun. For work that cannot be broken off, such as
// a kernel in this process: `expired` says so and ends the process.
class Watchdog {
 public:
  Watchdog(double seconds, std::function<void()> expired);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::jthread thread_;
};

}  // namespace sweep::evaluate
