#pragma once

#include "device/device.h"

#include <cstddef>
#include <memory>

namespace sweep::device {

// Memory as an ordinary program takes it (cuMemAlloc), in the process and thread that opened
// `device` as `id`: tools that watch every access know its exact size and who wrote it, which they
// need not know of mappings. No guard pages, and it cannot be exported. On the cpu device as
// Device::allocate(). Throws util::InfraError E_DEVICE_MEMORY when there is not enough.
[[nodiscard]] std::unique_ptr<Buffer> allocate_plain(Device& device, Id id, std::size_t bytes);

}  // namespace sweep::device
