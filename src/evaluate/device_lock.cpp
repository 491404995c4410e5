#include "evaluate/session.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

std::filesystem::path folder_of(const SessionOptions& options) {
  return options.locks.empty() ? util::lock_folder() : options.locks;
}

// Tells options.waiting who holds the device while `take` waits, and when it is over.
template <class Take>
void told(const SessionOptions& options, const device::Info& info, const Take& take) {
  bool waited = false;
  take([&](double) {
    waited = true;
    if (options.waiting) {
      const std::vector<util::Holder> holders = util::holders(folder_of(options), info.uuid);
      options.waiting(&holders);
    }
    return true;
  });
  if (waited && options.waiting) {
    options.waiting(nullptr);
  }
}

}  // namespace

util::FileLock lock_device(const SessionOptions& options,
                           const device::Info& info,
                           util::LockMode mode,
                           double bytes) {
  // Above any device's memory and exact as an integer.
  constexpr double kMostBytes = 1e15;
  const util::LockUse use{mode,
                          static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kMostBytes)),
                          info.total_bytes / 4 * 3,
                          options.holder};
  std::optional<util::FileLock> lock;
  told(options, info, [&](const util::WaitCallback& waiting) {
    lock = util::acquire(folder_of(options), info.uuid, use, waiting);
  });
  return std::move(lock).value();
}

// Whether any process is on its way that a player will have.
bool Session::starting() {
  const auto on_its_way = [](const Player& player) {
    return player.arm != nullptr && !player.arm->started();
  };
  return on_its_way(seed_) || on_its_way(candidate_) || on_its_way(versus_) ||
         std::ranges::any_of(ahead_, on_its_way);
}

void Session::give_way() {
  if (!lock_ || lock_mode_ != util::LockMode::shared || starting()) {
    return;
  }
  device_->synchronize();
  told(options_, device_->info(), [&](const util::WaitCallback& waiting) {
    (void)util::give_way(*lock_, folder_of(options_), device_->info().uuid, waiting);
  });
}

}  // namespace sweep::evaluate
