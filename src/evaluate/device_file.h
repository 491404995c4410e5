#pragma once

#include "device/device.h"

#include <filesystem>
#include <string>

// Files of what was measured on a device, one for each device and driver.
namespace sweep::evaluate {

// `cache`/KIND/UUID-DRIVER.json, `cache`/KIND/cpu.json for the cpu device, which has no driver; an
// empty `cache` is the compiler's default folder. Characters that a name should not have are
// replaced.
[[nodiscard]] std::filesystem::path device_file(const std::filesystem::path& cache,
                                                const std::string& kind,
                                                const device::Info& info);

// Whether the folder has a file of the same device, by its name.
[[nodiscard]] bool has_other_driver(const std::filesystem::path& folder, const device::Info& info);

}  // namespace sweep::evaluate
