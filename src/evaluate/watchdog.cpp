#include "evaluate/watchdog.h"

#include <chrono>
#include <utility>

namespace sweep::evaluate {

Watchdog::Watchdog(double seconds, std::function<void()> expired)
    : thread_([this, seconds, expired = std::move(expired)] {
        std::unique_lock lock(mutex_);
        const std::chrono::duration<double> time(seconds);
        if (!changed_.wait_for(lock, time, [this] { return done_; })) {
          expired();
        }
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
}

}  // namespace sweep::evaluate
