#pragma once

#include "record/trajectory.h"
#include "report/markup.h"

namespace sweep::report {

// What the last profile in the conversation found: what bounds the slowest kernel, and each counter
// of each kernel. Nothing where none was made. The record may hold anything.
[[nodiscard]] Markup profile_view(const record::Trajectory& trajectory);

}  // namespace sweep::report
