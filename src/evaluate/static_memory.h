#pragma once

#include "compile/compile.h"
#include "problem/problem.h"
#include "submission/plan.h"

#include <string>

namespace sweep::evaluate {

// Why loading this cuda image would take more of the device than the problem lets a plan have:
// module variables, the plan's scratch and the local memory of all resident threads, for each
// visible shape, against the problem's limit on scratch. Of the local memory only what is above
// 4 KiB a thread counts: that much the arrays of ordinary kernels take. Empty: it fits.
[[nodiscard]] std::string over_memory(const problem::Problem& problem,
                                      const submission::Submission& submission,
                                      const compile::Result& compiled,
                                      int sm_count);

}  // namespace sweep::evaluate
