#include "queue/permits.h"

#include <chrono>
#include <thread>
#include <utility>

namespace sweep::queue {

Slots::Slots(std::filesystem::path folder, std::string name, std::int64_t count)
    : folder_(std::move(folder)), name_(std::move(name)), count_(count) {}

std::optional<util::FileLock> Slots::take(const util::WaitCallback& keep_waiting) const {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    for (std::int64_t slot = 0; slot < count_; ++slot) {
      util::Fd file = util::open_lock_file(folder_, name_ + ".slot" + std::to_string(slot));
      if (auto lock = util::FileLock::try_lock(std::move(file), util::LockMode::exclusive)) {
        return lock;
      }
    }
    if (keep_waiting && !keep_waiting(Seconds(std::chrono::steady_clock::now() - start).count())) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace sweep::queue
