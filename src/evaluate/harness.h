#pragma once

#include "compile/compiler.h"
#include "evaluate/engine.h"

namespace sweep::evaluate {

// Device code of the judge and of its runners. All empty on the cpu device.
struct HarnessImages {
  device::Image own;  // device::Device::own_code()
  EngineImages engine;
};

// Compiles it as trusted code, behind the disk cache of `compiler`. Throws util::InfraError
// E_HARNESS_KERNELS with the compiler's log, and what Compiler::compile_trusted throws.
[[nodiscard]] HarnessImages harness_images(compile::Compiler& compiler,
                                           const compile::Target& target);

}  // namespace sweep::evaluate
