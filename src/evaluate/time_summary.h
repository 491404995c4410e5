#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/timed_shape.h"

#include <deque>

namespace sweep::evaluate {

// Statistics and decision from result.samples, whose shapes are numbers in `shapes`. On the cpu
// device drift is reported and decides nothing, and the result never says FASTER.
void add_statistics(TimeResult& result,
                    const std::deque<TimedShape>& shapes,
                    bool may_say_faster,
                    bool cpu);

}  // namespace sweep::evaluate
