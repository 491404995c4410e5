#pragma once

#include "evaluate/code.h"
#include "problem/problem.h"

#include <optional>

namespace sweep::evaluate {

// The first launch of the visible shapes whose arguments do not fit its kernel's parameters (count,
// type, const, width), as the plan's binding before a call would say; nothing where all fit.
// Kernels whose parameters only the device can tell are left to that.
[[nodiscard]] std::optional<submission::PlanError> argument_error(const Code& code,
                                                                  const problem::Problem& problem,
                                                                  int sm_count);

}  // namespace sweep::evaluate
