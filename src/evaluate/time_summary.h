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

// The first shape whose times are below what its work takes.
[[nodiscard]] std::optional<Failure> floor_failure(const std::vector<Sample>& samples,
                                                   const std::deque<TimedShape>& shapes);

}  // namespace sweep::evaluate
