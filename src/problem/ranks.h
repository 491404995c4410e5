#pragma once

#include "problem/problem.h"

namespace sweep::problem {

// Whether the problem has ranks: plans run on each of them.
[[nodiscard]] bool ranked(const Problem& problem);

}  // namespace sweep::problem
