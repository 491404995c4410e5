#pragma once

#include "calibrate/rig.h"
#include "evaluate/calibration.h"

#include <vector>

namespace sweep::calibrate {

// What the device reaches, each the best of several runs, and the time of an empty graph between
// two events (median of 101). cuda only. Nobody else uses the device meanwhile.
[[nodiscard]] std::vector<evaluate::Figure> measure_ceilings(Rig& rig,
                                                             const device::Image& kernels);

// Copies of about `seconds` with and without a kernel before the flush that marks as much of L2 as
// it can to be kept, in blocks ABBA: passes where the 95% interval of the ratio without / with lies
// within 1%. cuda only.
[[nodiscard]] evaluate::ControlResult hostile_neighbour(Rig& rig,
                                                        const device::Image& kernels,
                                                        const Material& copies,
                                                        std::int64_t rows);

}  // namespace sweep::calibrate
