#pragma once

#include "report/figure.h"
#include "report/figure_rows.h"

// Figures of how fast the kernels are.
namespace sweep::report {

// fast_p by model, by the measured speedup and by the lower bound of its interval, with pointwise
// 95% bands over problems.
[[nodiscard]] Figure fast_p_figure(const Rows& rows);

// Dot and whisker of each correct kernel that was timed: its speedup with its own interval. More
// than 60 kernels are drawn by problem, more than 120 problems by level: geometric mean, and the
// range from the smallest to the largest.
[[nodiscard]] Figure speedup_figure(const Rows& rows);

// Arithmetic intensity and achieved flop/s of the largest timed shape of each kernel under the
// ceilings of the device. More than 400 points are drawn as counts on a grid.
[[nodiscard]] Figure roofline_figure(const Rows& rows);

}  // namespace sweep::report
