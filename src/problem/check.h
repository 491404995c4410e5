#pragma once

#include "problem/problem.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sweep::problem {

// Checks beyond reading, for `sweep problems check`: names and modes of expressions, shapes inside
// bounds and constraints, fills resolvable at every shape, 200 stress and 20 edge draws possible,
// cost rules (docs/problem_format.md, "Cost rules"). Plans of reference.cu and others are checked
// by the caller, which knows their grammar.
[[nodiscard]] std::vector<Mistake> check(const Problem& problem);

// Reads and checks a folder: all mistakes in order of file and line. Never throws for what the
// files contain.
[[nodiscard]] std::vector<Mistake> check_folder(const std::filesystem::path& folder);

}  // namespace sweep::problem
