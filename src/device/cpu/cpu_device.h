#pragma once

#include "device/device.h"

#include <memory>

namespace sweep::device::cpu {

// Blocks run on at most this many OS threads: 1024 guarded stacks each need 2048 memory areas, and
// Linux allows a process 65530 of them.
inline constexpr unsigned kMaxWorkers = 24;

// The host's processors as a device. `workers` 0: one for each processor that this process may use.
[[nodiscard]] std::unique_ptr<Device> open(unsigned workers = 0);

// Info of this machine's cpu device; opens nothing.
[[nodiscard]] Info describe();

}  // namespace sweep::device::cpu
