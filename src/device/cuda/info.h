#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

#include <string>

namespace sweep::device::cuda {

// What the driver says of device `ordinal`; needs no context. Throws util::InfraError.
[[nodiscard]] Info device_info(const Driver& driver, CUdevice ordinal);

// 1 where a kernel may reach the process's own host memory (HMM or ATS): results are then `sealed:
// weak`.
[[nodiscard]] bool pageable_memory_access(const Driver& driver, CUdevice ordinal);

// "GPU-00112233-4455-6677-8899-aabbccddeeff" of 16 bytes.
[[nodiscard]] std::string uuid_text(const CUuuid& uuid);

// "sm_90a" for (9, 0); the architecture-specific suffix exists from 9.0 on.
[[nodiscard]] std::string arch_text(int major, int minor);

}  // namespace sweep::device::cuda
