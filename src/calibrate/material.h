#pragma once

#include "compile/compiler.h"
#include "evaluate/code.h"
#include "evaluate/harness.h"
#include "problem/problem.h"

#include <optional>
#include <string>
#include <string_view>

// The built-in kernels that a device is calibrated with.
namespace sweep::calibrate {

enum class Kind { copy, gemm };

// A problem with its compiled texts.
struct Material {
  problem::Problem problem;
  evaluate::Code reference, seed;
  std::optional<evaluate::Code> slower;  // copies only: moves `extra` rows more
};

// Compiles through the cache of `compiler`. Throws util::InfraError "E_SEED_COMPILE" with the
// compiler's log; the gemm needs an sm_90a target.
[[nodiscard]] Material material(Kind kind,
                                compile::Compiler& compiler,
                                const compile::Target& target);

// The kernels of ceilings.cu (cuda only). Throws util::InfraError "E_HARNESS_KERNELS".
[[nodiscard]] device::Image ceiling_kernels(compile::Compiler& compiler,
                                            const compile::Target& target);

// Free dims of a call that moves `rows` rows of 16 bytes each way (copy), or of square matrices of
// 128 `rows` (gemm); a slower copy moves `extra` rows more.
[[nodiscard]] expr::IntEnv dims_of(Kind kind, std::int64_t rows, std::int64_t extra = 1);

}  // namespace sweep::calibrate
