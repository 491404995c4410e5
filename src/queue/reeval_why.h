#pragma once

#include "queue/reeval.h"

namespace sweep::queue {

// Both judgements of an item's submission side by side.
[[nodiscard]] Reevaluated compared(const record::Trajectory& before, const record::Trajectory& now);

}  // namespace sweep::queue
