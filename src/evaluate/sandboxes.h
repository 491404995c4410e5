#pragma once

#include "device/device.h"
#include "util/sandbox.h"

#include <filesystem>
#include <vector>

namespace sweep::evaluate {

// What protects a judge and a runner that it starts, as found.
struct Sandboxes {
  std::vector<util::Protection> judge;
  std::vector<util::Protection> runner;
};

// Starts both as an evaluation on this kind of device does, even where protections are missing, and
// ends them; opens no device. `program` has the roles. Throws util::InfraError when they do not
// start at all.
[[nodiscard]] Sandboxes probe_sandboxes(const std::filesystem::path& program, device::Kind kind);

}  // namespace sweep::evaluate
