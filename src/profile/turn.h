#pragma once

#include "evaluate/evaluation.h"
#include "profile/subject.h"
#include "util/lock.h"

namespace sweep::profile {

// The device's shared lock for one replay of the shape: nobody times meanwhile. Waits as long as
// it takes.
[[nodiscard]] util::FileLock take_turn(const evaluate::Services& services,
                                       const device::Info& info,
                                       const VisibleShape& shape);

}  // namespace sweep::profile
