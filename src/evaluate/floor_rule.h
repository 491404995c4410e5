#pragma once

#include "device/device.h"
#include "evaluate/evaluation.h"
#include "problem/draw.h"

#include <optional>
#include <span>
#include <string>

namespace sweep::evaluate {

// The work of a content and what it takes at least on a device.
struct Floor {
  double seconds = 0;     // 0: nothing is known
  double bytes = 0;       // that must move beyond the L2 cache
  bool provable = false;  // the problem says which bytes; else a kernel may know how to skip some
  problem::WorkValues work;
};

// From the problem's work model with the statistics of this very content: bytes beyond L2 at the
// datasheet bandwidth of the device, or the best known algorithm's operations at the peak of the
// fastest unit that may do them, where that is known (Hopper).
[[nodiscard]] Floor floor_of(const problem::Problem& problem,
                             const problem::Draw& draw,
                             const device::Info& info);

// A failure if the slowest replicate's median call of the candidate is below 0.9 of the floor:
// REJECTED_FLOOR where it is provable, else REVIEW.
[[nodiscard]] std::optional<Failure> below_floor(const std::string& shape,
                                                 const Floor& floor,
                                                 std::span<const double> replicate_medians);

}  // namespace sweep::evaluate
