#pragma once

#include "submission/plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sweep::submission {

// The signature with a tensor of each rank in the place of every one that is `per_rank`: "x of rank
// 0", "x of rank 1", .. Unchanged for `ranks` = 0, or where nothing is per rank.
[[nodiscard]] Signature widened(const Signature& signature, std::int64_t ranks);

// One rank's run of a plan, with its BufferRefs over the signature's own tensors.
struct RankRun {
  Expansion expansion;
  std::vector<std::int64_t> turns;  // Machine::turns()
};

// The runs of rank 0, 1, .. as one expansion: step i of every rank comes before step i+1 of any, a
// launch that was left out counting as a step, and in which order the ranks take a step follows
// from `order` (Binding::rank_order). No launch begins before the one before it has ended. The
// error, E_PLAN_RANKS, where ranks differ in their number of steps or in their scratch.
[[nodiscard]] std::variant<Expansion, PlanError> merged(const Signature& signature,
                                                        std::vector<RankRun> runs,
                                                        std::uint64_t order);

}  // namespace sweep::submission
