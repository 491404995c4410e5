#pragma once

#include "device/device.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// A plan whose scalars change with the content keeps its launches: only bytes of arguments change,
// mostly the same ones in every launch. A sequence is then changed instead of made again (a call of
// level2/40, up to 1,023 launches, took 15 ms to judge on an H200).
namespace sweep::evaluate {

// New bytes of one argument of every launch among the steps `first` to `last`.
struct StepPatch {
  std::size_t first = 0, last = 0;
  std::size_t argument = 0;
  std::vector<std::byte> bytes;

  friend bool operator==(const StepPatch&, const StepPatch&) = default;
};

// What makes `after` of `before`; nothing if anything but arguments' bytes differs.
[[nodiscard]] std::optional<std::vector<StepPatch>> patches_between(
    std::span<const device::Step> before, std::span<const device::Step> after);

// Throws util::InfraError E_RUNNER_PROTOCOL for a patch that does not fit the steps.
void apply_patches(std::span<const StepPatch> patches, std::vector<device::Step>& steps);

[[nodiscard]] nlohmann::json patches_to_json(std::span<const StepPatch> patches);
// Throws wire::WireError or util::InfraError for what is no list of patches.
[[nodiscard]] std::vector<StepPatch> patches_from_json(const nlohmann::json& list);

}  // namespace sweep::evaluate
