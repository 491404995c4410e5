#pragma once

#include "problem/draw.h"
#include "problem/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sweep::evaluate {

// One element of a tensor takes the value of another element of it: a content that a kernel which
// looks at samples, sums or addresses takes for the one before.
struct Perturbation {
  std::string tensor;
  std::int64_t to = 0, from = 0;  // element numbers, different ones

  // "x[17] = x[4]".
  [[nodiscard]] std::string text() const;
};

// For each input of real numbers that are drawn one by one (so that any value may stand at any
// place) and that no other input copies: one pair of elements, chosen by `key`; at most `most`.
// Tensors of fewer than two elements have none. `draw` has the default content.
[[nodiscard]] std::vector<Perturbation> perturbations(const problem::Problem& problem,
                                                      const problem::Draw& draw,
                                                      const problem::Key& key,
                                                      std::size_t most);

}  // namespace sweep::evaluate
