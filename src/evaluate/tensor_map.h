#pragma once

#include "device/device.h"
#include "submission/plan.h"

namespace sweep::evaluate {

// A plan's tensor map over memory at `address`, as the device takes it. Without elements: rank 0.
[[nodiscard]] device::TensorMap device_map(const submission::TensorMap& map,
                                           device::Address address);

}  // namespace sweep::evaluate
