#include "evaluate/compilers.h"

namespace sweep::evaluate {

std::optional<util::FileLock> compiler_place(const Services& services, const Tick& tick) {
  constexpr const char* kName = "compilers";
  if (services.compilers <= 0) {
    return std::nullopt;
  }
  const std::filesystem::path folder =
      services.locks.empty() ? util::lock_folder() : services.locks;
  util::LockUse use;
  use.bytes = 1;
  use.capacity = static_cast<std::uint64_t>(services.compilers);
  bool waited = false;
  auto place = util::acquire(folder, kName, use, [&](double) {
    if (!waited) {
      tick("waiting for a compiler (" + util::text(util::holders(folder, kName)) + ")", 0, 0);
    }
    waited = true;
    return true;
  });
  if (waited) {
    tick("", 0, 0);
  }
  return place;
}

}  // namespace sweep::evaluate
