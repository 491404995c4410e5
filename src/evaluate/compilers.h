#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"
#include "util/lock.h"

#include <optional>

namespace sweep::evaluate {

// A place among the compilers that work at a time on this machine, of whatever sweep or user
// (Services::compilers); free again with the object or with this process. None where no limit is
// set. `tick` hears what is waited for, and an empty text when that is over.
[[nodiscard]] std::optional<util::FileLock> compiler_place(const Services& services,
                                                           const Tick& tick);

}  // namespace sweep::evaluate
