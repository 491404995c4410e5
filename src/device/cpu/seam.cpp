#include "device/cpu/block.h"

#include <string>

// Candidate code reads these as threadIdx and friends; the hidden parameter of every kernel.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// The seam that sweep/simt/runtime.h declares.
using sweep::device::cpu::BlockRunner;  // NOLINT(google-global-names-in-headers): this is no header

int sweep_simt_barrier(sweep_simt::Vote vote, int predicate, int line) {
  return BlockRunner::current()->barrier(vote, predicate, line);
}

unsigned long long sweep_simt_warp(
    sweep_simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line) {
  return BlockRunner::current()->warp(op, mask, value, source, line);
}

bool sweep_simt_thread_end() {
  return BlockRunner::current()->thread_end();
}

void sweep_simt_yield() {
  BlockRunner::current()->yield();
}

void sweep_simt_contended() {
  BlockRunner::current()->contended();
}

void sweep_simt_fail(const char* what, const char* file, int line) {
  std::string text = what;
  if (line > 0) {
    text += std::string(", ") + file + ":" + std::to_string(line);
  }
  BlockRunner::current()->fail(std::move(text));
}
