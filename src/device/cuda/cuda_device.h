#pragma once

#include "device/device.h"

#include <memory>
#include <vector>

namespace sweep::device::cuda {

// Washer, cache flush and its probe: see device::own_source(). No text in a build without cuda.
[[nodiscard]] OwnSource own_source();

// Compiles the harness's own device code (washer, cache flush and its probe) for `arch` ("sm_90a")
// in this process with NVRTC. Throws util::UsageError (E_NVRTC_MISSING) or util::InfraError
// (E_HARNESS_KERNELS).
[[nodiscard]] Image harness_image(const std::string& arch);

// CUDA device `index` of this process's driver. Throws util::UsageError (E_NO_DRIVER, E_NO_DEVICE,
// E_NO_CUDA_BUILD: says what to do) or util::InfraError. `harness` from harness_image() of another
// process saves a sandboxed one from needing NVRTC; if it is empty it is compiled at the first
// flush_cache() or wash().
[[nodiscard]] std::unique_ptr<Device> open(int index, Image harness = {});

// Info of a device; makes no context. Throws as open().
[[nodiscard]] Info describe(int index);
// PAGEABLE_MEMORY_ACCESS of a device; likewise.
[[nodiscard]] bool pageable_memory(int index);

// Every CUDA device with its info; without a driver one entry for index 0 that is not usable and
// says why. Never throws for a missing driver. Makes no context on any device.
[[nodiscard]] std::vector<Listed> list();

}  // namespace sweep::device::cuda
