#pragma once

#include <string>
#include <vector>

namespace sweep::compile {

// Flags of every cpu compilation. -O2 gave 0.63-0.73x of a plain loop where -O3 gave 0.27-0.48x
// (GCC 12); kernels cast between vector and scalar pointers, so no strict aliasing; CUDA code sees
// neither errno nor floating-point traps.
[[nodiscard]] std::vector<std::string> gxx_flags(bool fast_math);

}  // namespace sweep::compile
