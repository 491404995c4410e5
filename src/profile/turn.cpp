#include "profile/turn.h"

#include "evaluate/session.h"

namespace sweep::profile {

util::FileLock take_turn(const evaluate::Services& services,
                         const device::Info& info,
                         const VisibleShape& shape) {
  // Scratch, what a tool keeps for itself, and its copies of memory that a kernel writes.
  constexpr double kTool = 4e9;
  evaluate::SessionOptions options;
  options.locks = services.locks;
  return evaluate::lock_device(options, info, util::LockMode::shared, 4 * shape.bytes + kTool);
}

}  // namespace sweep::profile
