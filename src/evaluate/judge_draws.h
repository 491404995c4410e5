#pragma once

#include "evaluate/judge_stages.h"
#include "evaluate/probe.h"
#include "problem/draw.h"

#include <cstdint>
#include <vector>

// Which contents the stages of the judge look at, in order. They follow from the options, the
// problem and the device, never from a candidate.
namespace sweep::evaluate {

// The dims of a draw that are not derived.
[[nodiscard]] expr::IntEnv free_dims(const problem::Problem& problem, const expr::IntEnv& dims);

struct NumberedDraw {
  problem::Draw draw;
  std::uint64_t number = 0;  // of the seed
};

// Visible shapes x contents x seeds; shapes outermost, so that buffers are made once for each.
[[nodiscard]] std::vector<NumberedDraw> check_draws(const Session& session,
                                                    const StageOptions& options);

// After these draws check judges the first one again: as it is, with each of these changes, and as
// it is.
[[nodiscard]] std::vector<Perturbation> probe_changes(const problem::Problem& problem,
                                                      const problem::Draw& first);

struct StressDraws {
  std::vector<problem::Draw> draws;
  int random = 0, edges = 0;  // as drawn, whatever contents are left out
};

[[nodiscard]] StressDraws stress_draws(const Session& session, const StageOptions& options);

}  // namespace sweep::evaluate
