#pragma once

#include "problem/problem.h"

#include <string>

namespace sweep::evaluate::admission {

// reference.cu as a submission that computes in fp32 where the reference does in fp64: an honest
// kernel with the reference's order of summation.
struct NarrowedReference {
  std::string text;    // empty: there is none
  std::string reason;  // why there is none
};

// Every `double` becomes `float`, every f64 of the plan f32; aux tensors become scratch. None where
// the problem's precision is fp64, where it has ranks, or where a float output is not f32. Whether
// the text compiles is for the caller to find out: what takes a double apart
// (`__double_as_longlong`) does not.
[[nodiscard]] NarrowedReference narrowed_reference(const problem::Problem& problem);

}  // namespace sweep::evaluate::admission
