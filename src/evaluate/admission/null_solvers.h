#pragma once

#include "evaluate/admission/values.h"
#include "problem/fill.h"

#include <functional>
#include <string>
#include <vector>

namespace sweep::evaluate::admission {

// A tensor with its values on the host, in the tensor's own type.
struct HostTensor {
  problem::ConcreteTensor tensor;
  const Bytes* values = nullptr;
};

// Something that writes an output without computing it, or without computing all of it.
struct NullSolver {
  std::string name;             // "zeros", "copy of x", "half of the rows"
  std::function<Bytes()> make;  // empty: this output is too small for it
};

// The solvers for one output. `right` are its right values, `stale` those of another draw of the
// same dims (null: none is known), `inputs` what could be copied. All must outlive the solvers.
// A solver may make the right values by chance or because the problem is degenerate: the caller
// compares.
[[nodiscard]] std::vector<NullSolver> null_solvers(const HostTensor& right,
                                                   const Bytes* stale,
                                                   const std::vector<HostTensor>& inputs);

}  // namespace sweep::evaluate::admission
