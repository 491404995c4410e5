#pragma once

#include "evaluate/evaluation.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

// Members of an evaluation's JSON. What reads throws wire::WireError "E_WIRE_FIELD" for a member
// that is missing or of another type.
namespace sweep::evaluate {

[[noreturn]] void broken(const std::string& what);

// JSON has no infinities and no NaN: they travel as "inf", "-inf" and "nan".
[[nodiscard]] nlohmann::json number(double value);
[[nodiscard]] double number_from(const nlohmann::json& body, const char* key);

[[nodiscard]] int int_from(const nlohmann::json& body, const char* key);
[[nodiscard]] Verdict verdict_from(const nlohmann::json& body, const char* key);

[[nodiscard]] expr::IntEnv dims_from(const nlohmann::json& body, const char* key);
[[nodiscard]] nlohmann::json dims_to_json(const expr::IntEnv& dims);

[[nodiscard]] const nlohmann::json& list_in(const nlohmann::json& body, const char* key);

template <class T>
[[nodiscard]] nlohmann::json optional_to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : nlohmann::json(nullptr);
}

[[nodiscard]] std::optional<Failure> optional_failure(const nlohmann::json& body, const char* key);

}  // namespace sweep::evaluate
