#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/timed_shape.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace sweep::evaluate {

// Adds the shapes, the noise floor of the worst of them and what compute_statistics() makes of them
// to a result with clock and samples, whose shapes are numbers in `shapes`.
void add_statistics(TimeResult& result,
                    const std::deque<TimedShape>& shapes,
                    const StageOptions& options);

// Every number that follows from samples, shapes' launches, noise floor and clock, and the
// decision: what `sweep verify` computes again. Unless the clock is the GPU's the guards decide
// nothing, as nobody guards the host's clocks and others work on its cores, and the decision is
// never FASTER.
void compute_statistics(TimeResult& result, bool may_say_faster);

// What is decided where the guards' points and bounds are those that the result has, whatever its
// samples give; all else as compute_statistics().
[[nodiscard]] Verdict decision_by_own_guards(TimeResult result, bool may_say_faster);

// timing::replicates_after, at least `least`.
[[nodiscard]] int replicates_after_pilot(const std::vector<Sample>& pilot,
                                         std::size_t shapes,
                                         int least);

// The first shape whose times are below what its work takes.
[[nodiscard]] std::optional<Failure> floor_failure(const std::vector<Sample>& samples,
                                                   const std::deque<TimedShape>& shapes);

}  // namespace sweep::evaluate
