#pragma once

#include "device/conditions.h"
#include "device/device.h"

#include <nlohmann/json_fwd.hpp>

namespace sweep::device {

// An Info as it travels between roles and stands in results: one member of the same name for each
// field.
[[nodiscard]] nlohmann::json to_json(const Info& info);
// Throws wire::WireError E_WIRE_FIELD when a member is missing or has another type.
[[nodiscard]] Info info_from_json(const nlohmann::json& json);

// Conditions likewise; null for a field that could not be read.
[[nodiscard]] nlohmann::json to_json(const Conditions& conditions);
[[nodiscard]] std::vector<Neighbour> neighbours_from_json(const nlohmann::json& list);
[[nodiscard]] Conditions conditions_from_json(const nlohmann::json& json);

}  // namespace sweep::device
