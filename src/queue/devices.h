#pragma once

#include "device/device.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::queue {

// One GPU (or the cpu device) that a run uses.
struct Lane {
  device::Id id;
  device::Info info;
  std::string no_compiler;  // why code for it cannot be compiled here; empty: it can
  std::string no_nvcc;      // the same for nvcc
};

// The lanes of `wanted` ("cpu", "cuda", "cuda:N"), at most `most` (0: all), asked of a child
// process so that this one never opens the driver. UsageError when there is no such device or it
// cannot be used (says what to do); `require_gpu` must be part of the GPU's name unless empty.
[[nodiscard]] std::vector<Lane> lanes(const std::filesystem::path& program,
                                      const std::string& wanted,
                                      std::size_t most,
                                      const std::string& require_gpu);

// Body of `sweep __devices`: prints device::list() and what compilers lack as JSON. Returns the
// exit code.
[[nodiscard]] int devices_main();

}  // namespace sweep::queue
