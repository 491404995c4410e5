#pragma once

#include "submission/plan.h"

#include <optional>

namespace sweep::submission {

// Holds every name of the plan, branches not taken included, against the signature: unknown and
// twice declared names, names that the problem already uses, dims given as template types.
[[nodiscard]] std::optional<PlanError> check_names(const Submission& submission,
                                                   const Signature& signature);

}  // namespace sweep::submission
