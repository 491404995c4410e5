#pragma once

#include "device/device.h"

namespace sweep::device {

// What open(id) would say of itself. Opens nothing: no context is made on a GPU, so that work of
// others on it is not disturbed. Throws as open().
[[nodiscard]] Info describe(Id id);

// Whether kernels can reach all memory of their process (PAGEABLE_MEMORY_ACCESS: HMM, ATS), not
// only what was mapped for them. False for cpu, whose results are unsealed anyway. Opens nothing,
// throws as open().
[[nodiscard]] bool pageable_memory(Id id);

}  // namespace sweep::device
