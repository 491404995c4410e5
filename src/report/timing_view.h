#pragma once

#include "record/trajectory.h"
#include "report/markup.h"
#include "report/row.h"

namespace sweep::report {

// How the final kernel's time was measured and what came out: the table of shapes, held-out shapes,
// every block of the timing as a figure, the device's conditions, libraries, and what the kernel
// reaches of the hardware. Nothing where it was not timed. The stored evaluation may hold anything;
// `row` is of the same trajectory.
[[nodiscard]] Markup timing_view(const record::FinalResult& result, const Row& row);

}  // namespace sweep::report
