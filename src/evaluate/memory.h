#pragma once

#include "evaluate/session.h"
#include "problem/draw.h"

#include <vector>

// How much device memory a stage takes at most, for the reservation beside a shared lock.
namespace sweep::evaluate {

// What the driver takes for a process that has the device open.
[[nodiscard]] double context_bytes(device::Kind kind);

// Bytes for judging the draws one after another: the judge's buffers, results kept from the draw
// before, the reference, scratch of both arms, and what the driver takes for each process.
[[nodiscard]] double judged_bytes(Session& session, const std::vector<problem::Draw>& draws);

// Bytes for timing one draw of each shape with `pairs` pairs of runners alive: buffers and oracle
// pool of all shapes at once, and every runner's scratch for each.
[[nodiscard]] double timed_bytes(Session& session,
                                 const std::vector<problem::Draw>& draws,
                                 int pairs);

}  // namespace sweep::evaluate
