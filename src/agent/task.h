#pragma once

#include "agent/agent.h"
#include "problem/problem.h"

#include <filesystem>

namespace sweep::agent {

// The prompt's view of a problem. `seed_file` need not exist (its hash is then empty).
[[nodiscard]] Task make_task(const problem::Problem& problem,
                             const device::Info& device,
                             device::Kind kind,
                             const std::filesystem::path& seed_file);

// Facts of a device, one a line; for the cpu device its processor.
[[nodiscard]] std::string device_facts(const device::Info& device, device::Kind kind);

}  // namespace sweep::agent
