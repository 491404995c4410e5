#pragma once

#include "cli/style.h"
#include "problem/problem.h"

#include <string>

namespace sweep::cli {

// The tensors, dims and scalars of a problem as `//` comment lines for the head of a new
// submission.
[[nodiscard]] std::string signature_comment(const problem::Problem& problem);

// `sweep problems show`: statement, signature, shapes, tolerance, for a terminal.
[[nodiscard]] std::string problem_text(const problem::Problem& problem, const Style& style);

// "f32[rows, cols]".
[[nodiscard]] std::string type_text(const problem::Tensor& tensor);

}  // namespace sweep::cli
