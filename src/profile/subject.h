#pragma once

#include "evaluate/code.h"
#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "profile/unavailable.h"

#include <optional>
#include <string>
#include <vector>

namespace sweep::profile {

// The kernel that the tools look at: the same compilation as the judged one, mostly from the cache.
struct Subject {
  problem::Problem problem;
  evaluate::Code code;
  compile::Result compiled;
  std::string arch;  // "sm_90a"
  // Why there is no image: a text that does not compile, or no compiler here.
  std::optional<Unavailable> uncompiled;
};

// Compiles the request's submission for a GPU of `arch`; needs no GPU. A plan that cannot be read
// is Unavailable. Throws util::Error as compile::Compiler and the catalogue do.
[[nodiscard]] Result<Subject> compile_subject(const evaluate::EvaluationRequest& request,
                                              const evaluate::Services& services,
                                              const std::string& arch);

// A visible shape with one draw of it; never a stress or held-out one.
struct VisibleShape {
  evaluate::Place place;
  problem::Draw draw;  // default content, keyed by the request's seed
  double bytes = 0;    // inputs and outputs
};

// Those of the request, else the problem's `check` ones (cpu: the `cpu` ones), in order.
[[nodiscard]] std::vector<VisibleShape> visible_shapes(const problem::Problem& problem,
                                                       const evaluate::EvaluationRequest& request);

// Where a tool needs one shape: the one with the fewest bytes, and the one with the most.
// util::UsageError where the problem has none.
[[nodiscard]] const VisibleShape& smallest(const std::vector<VisibleShape>& shapes);
[[nodiscard]] const VisibleShape& largest(const std::vector<VisibleShape>& shapes);

}  // namespace sweep::profile
