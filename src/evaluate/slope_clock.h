#pragma once

#include "evaluate/timed_shape.h"

namespace sweep::evaluate {

// Whether the judge's own clock is read for a shape: with several replicates, as one says nothing;
// not where a tensor is inout, which a second call on the same content would change again; on the
// cpu device, where it decides nothing, below 20 ms a call only.
[[nodiscard]] bool slope_applies(Session& session,
                                 const TimedShape& shape,
                                 const StageOptions& options);

// The content to read it on: the pool's first where `only_pool`, else one of the replicate's own.
[[nodiscard]] problem::Draw slope_draw(Session& session,
                                       const TimedShape& shape,
                                       const problem::Key& key,
                                       int replicate,
                                       bool only_pool);

struct SlopeReading {
  double seed = 0, candidate = 0;  // seconds that one more call takes
  Tensors by_seed, by_candidate;   // outputs of the last calls, to be judged
};

// On the content of `draw`, which the bench holds. Throws ArmFault and PlanFault of the
// candidate; what goes wrong with the seed is util::InfraError "E_SEED_FAULT".
[[nodiscard]] SlopeReading read_slope(Session& session,
                                      Player& seed,
                                      Player& candidate,
                                      Bench& bench,
                                      const TimedShape& shape,
                                      const problem::Draw& draw);

}  // namespace sweep::evaluate
