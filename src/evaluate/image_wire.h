#pragma once

#include "device/device.h"
#include "util/fd.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

// A compiled image on its way to another process: its kernels in the message, its bytes in a
// descriptor beside it.
namespace sweep::evaluate {

[[nodiscard]] nlohmann::json kernels_to_json(const device::Image& image);

// `what` names the image in errors.
[[nodiscard]] util::Fd image_fd(const device::Image& image, const std::string& what);

// Throws util::InfraError E_IMAGE for more than 1 GiB, wire::WireError for a wrong list.
[[nodiscard]] device::Image image_from(const nlohmann::json& kernels, const util::Fd& bytes);

}  // namespace sweep::evaluate
