#pragma once

#include "evaluate/bench.h"
#include "evaluate/evaluation.h"
#include "evaluate/oracle.h"
#include "problem/compare.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// Outputs and inout of one call, on the host, by name.
using Outputs = std::map<std::string, std::vector<std::byte>, std::less<>>;

struct Judgement {
  double worst_share = 0;                            // over all outputs, elements and rms
  std::optional<Failure> failure;                    // of the first output that fails
  std::map<std::string, double, std::less<>> e_max;  // the seed's error by output, after the clamps
};

// The problem's rule for every output: `got` against the truth, E from the seed's outputs on the
// same draw.
[[nodiscard]] Judgement judge_outputs(const problem::Problem& problem,
                                      const problem::Draw& draw,
                                      const Truth& truth,
                                      Bench& bench,
                                      const Outputs& got,
                                      const Outputs& seed);

// Timed calls without an oracle: `got` against the seed's outputs, e_max of the shape's oracle
// draws.
[[nodiscard]] Judgement judge_against_seed(const problem::Problem& problem,
                                           const problem::Draw& draw,
                                           Bench& bench,
                                           const Outputs& got,
                                           const Outputs& seed,
                                           const std::map<std::string, double, std::less<>>& e_max);

// True if every output may be compared with the seed alone: no `unless`, no aux scale.
[[nodiscard]] bool seed_rule_suffices(const problem::Problem& problem);

// Which verdict a comparison that does not pass stands for.
[[nodiscard]] Verdict classify(const problem::Problem& problem,
                               const problem::Comparison& comparison);

// Verdict of a fault that recurred. `inside_input`: the address lies in a read-only buffer;
// `near_buffer`: beyond the edge of one of the buffers.
[[nodiscard]] Verdict verdict_of(const device::Fault& fault, bool inside_input, bool near_buffer);

}  // namespace sweep::evaluate
