#pragma once

#include "device/device.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

// JSON of what judge and runner tell each other (runner.h lists the messages). Both sides take the
// other for hostile.
namespace sweep::evaluate {

// How long judge and runner wait for each other without sleeping: on a GPU a call takes less than
// the waking would; the cpu device's kernels need the cores themselves.
[[nodiscard]] constexpr double spin_seconds(device::Id id) {
  return id.kind == device::Kind::cuda ? 2e-3 : 0;
}

// One message's JSON: 65,536 launches of a few hundred bytes each fit.
inline constexpr std::size_t kRunnerMessageBytes = std::size_t{64} << 20U;

[[nodiscard]] nlohmann::json steps_to_json(const std::vector<device::Step>& steps);
[[nodiscard]] std::vector<device::Step> steps_from_json(const nlohmann::json& list);

[[nodiscard]] nlohmann::json fault_to_json(const device::Fault& fault);
[[nodiscard]] device::Fault fault_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json facts_to_json(const device::FunctionFacts& facts);
[[nodiscard]] device::FunctionFacts facts_from_json(const nlohmann::json& body);

}  // namespace sweep::evaluate
