#pragma once
// Included by the generated translation unit after all system headers and right before the
// submission: these names would break system headers.

#include "core.h"

inline int sweep_clock() {
  return static_cast<int>(clock64());
}

inline int sweep_no_printf(const char*, ...) {
  return 0;
}

namespace std {
using ::sweep_no_printf;
}  // namespace std

#define __noinline__ __attribute__((noinline))
// As nvcc, accepts alignment after `__shared__`.
#define alignas(...) __attribute__((aligned(__VA_ARGS__)))
#define clock sweep_clock
#include "../cuda/assert.h"
#ifndef SWEEP_DEVICE_PRINTF
#define printf sweep_no_printf
#endif
// Inline PTX is unsupported, and the host's assembler would reach past every refusal. Macros of
// system headers that were defined before may still expand to them.
#ifndef SWEEP_TRUSTED
#pragma GCC poison asm __asm __asm__
#endif
