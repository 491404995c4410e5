#include "evaluate/session.h"

#include <algorithm>

namespace sweep::evaluate {

util::FileLock lock_device(const SessionOptions& options,
                           const device::Info& info,
                           util::LockMode mode,
                           double bytes) {
  // Above any device's memory and exact as an integer.
  constexpr double kMostBytes = 1e15;
  const std::filesystem::path folder = options.locks.empty() ? util::lock_folder() : options.locks;
  const util::LockUse use{mode,
                          static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kMostBytes)),
                          info.total_bytes / 4 * 3,
                          options.holder};
  bool waited = false;
  std::optional<util::FileLock> lock = util::acquire(folder, info.uuid, use, [&](double) {
    waited = true;
    if (options.waiting) {
      const std::vector<util::Holder> holders = util::holders(folder, info.uuid);
      options.waiting(&holders);
    }
    return true;
  });
  if (waited && options.waiting) {
    options.waiting(nullptr);
  }
  return std::move(lock).value();
}

}  // namespace sweep::evaluate
