#pragma once

#include "queue/prepare.h"

#include <vector>

namespace sweep::queue {

// Says what the pending items may cost and asks where that is more than [run] confirm_usd.
// UsageError E_SWEEP_CONFIRM without a yes.
void confirm_cost(const Plan& plan,
                  const std::vector<config::WorkItem>& pending,
                  const SweepOptions& options);

// UsageError E_SWEEP_BUDGET for a budget in dollars and a model whose price is unknown.
void check_budget(const Plan& plan);

}  // namespace sweep::queue
