#pragma once

#include "problem/problem.h"
#include "submission/plan.h"

namespace sweep::evaluate {

// What names mean in the plan of a candidate or seed: dims, arguments, inputs, inout and outputs of
// the problem, in order. Ranked for a problem with ranks: shapes are those of one rank.
[[nodiscard]] submission::Signature candidate_signature(const problem::Problem& problem);

// The same for reference.cu: outputs, inout and aux have the oracle's types (f64 for floats), and
// tensors that are per rank stand stacked, the rank axis in front.
[[nodiscard]] submission::Signature reference_signature(const problem::Problem& problem);

// Throws util::UsageError "E_EVALUATE_UNSUPPORTED" for what this version cannot judge (inputs.cu,
// check.cu).
void require_supported(const problem::Problem& problem);

}  // namespace sweep::evaluate
