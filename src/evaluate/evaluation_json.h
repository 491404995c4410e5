#pragma once

#include "evaluate/evaluation.h"

#include <nlohmann/json_fwd.hpp>

// Parts of an evaluation in schema 1; evaluation.h has the whole. Reading is strict:
// util::InfraError "E_WIRE_FIELD" for a missing or mistyped member.
namespace sweep::evaluate {

[[nodiscard]] nlohmann::json to_json(const Failure& failure);
[[nodiscard]] Failure failure_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json to_json(const Call& call);
[[nodiscard]] Call call_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json to_json(const CheckResult& result);
[[nodiscard]] CheckResult check_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json to_json(const StressResult& result, View view);
[[nodiscard]] StressResult stress_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json to_json(const TimeResult& result);
[[nodiscard]] TimeResult time_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json to_json(const HeldoutResult& result, View view);
[[nodiscard]] HeldoutResult heldout_from_json(const nlohmann::json& body);

// Of an evaluation; kFirstRules where it does not say.
[[nodiscard]] int rules_from_json(const nlohmann::json& evaluation);

[[nodiscard]] nlohmann::json to_json(const Protections& protections);
[[nodiscard]] Protections protections_from_json(const nlohmann::json& body);

}  // namespace sweep::evaluate
