#pragma once

#include "evaluate/evaluation.h"

#include <nlohmann/json_fwd.hpp>

namespace sweep::evaluate {

// {"pool": seconds, .., "costs": {"fill": seconds, ..}}.
[[nodiscard]] nlohmann::json to_json(const TimePhases& phases);

// Throws util::InfraError where a number is missing or no number; "costs" may be missing.
[[nodiscard]] TimePhases phases_from_json(const nlohmann::json& body);

// {"oracle": seconds, ..}; from the member "costs" of a stage, which may be missing.
[[nodiscard]] nlohmann::json to_json(const JudgeCosts& costs);
[[nodiscard]] JudgeCosts judge_costs_in(const nlohmann::json& body);

}  // namespace sweep::evaluate
