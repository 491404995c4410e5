#pragma once
// The seam between a compiled submission and the program that runs it (src/device/cpu).

#include "vector.h"

#define SWEEP_RUNTIME_TLS __attribute__((tls_model("initial-exec"), visibility("default")))
extern __thread uint3 threadIdx __asm__("sweep_simt_thread_idx") SWEEP_RUNTIME_TLS;
extern __thread uint3 blockIdx __asm__("sweep_simt_block_idx") SWEEP_RUNTIME_TLS;
extern __thread dim3 blockDim __asm__("sweep_simt_block_dim") SWEEP_RUNTIME_TLS;
extern __thread dim3 gridDim __asm__("sweep_simt_grid_dim") SWEEP_RUNTIME_TLS;

namespace sweep_simt {

// What a warp-wide operation computes once all lanes of its mask have arrived.
enum class WarpOp : int {
  sync,
  shuffle,    // value of lane `source`
  ballot,     // bit of each lane whose value is not zero
  match_any,  // mask of the lanes with the same value
  match_all,  // the mask if all values are equal, else 0
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,
  active,  // mask of the lanes that wait in the same line while no other lane of the warp can go on
};

enum class Vote : int { none, count, all, any };

// The threads of the block in flight that have not started yet. `order[next]` starts next.
struct ThreadLoop {
  const uint3* order;
  unsigned next;
  unsigned count;
  bool blocked;  // some thread of this block has waited: report each end of a thread
};

using LoopFunction = void (*)(ThreadLoop*, void* const*);

// One kernel of a module. `kernel` is there for its relocation: it leads to the symbol's name.
struct KernelEntry {
  const char* name;
  LoopFunction loop;
  void (*kernel)();
  const unsigned* parameter_bytes;
  unsigned parameters;
};

struct ModuleTable {
  unsigned version;  // kModuleVersion
  unsigned kernels;
  const KernelEntry* entries;
  void* (*dynamic_shared)();  // start of this OS thread's dynamic shared memory; null: none used
};

inline constexpr unsigned kModuleVersion = 1;
inline constexpr unsigned kMaxSharedBytes = 232448;  // 227 KiB, as on sm_90

}  // namespace sweep_simt

// Defined by the program that loads the module.
extern "C" {
__attribute__((visibility("default"))) int sweep_simt_barrier(sweep_simt::Vote vote,
                                                              int predicate,
                                                              int line);
__attribute__((visibility("default"))) unsigned long long sweep_simt_warp(
    sweep_simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line);
// A thread of a block with waiting threads ended; true: leave the loop, a waiting thread can go on.
__attribute__((visibility("default"))) bool sweep_simt_thread_end();
__attribute__((visibility("default"))) void sweep_simt_yield();
// A compare-exchange failed: after some of them the same as sweep_simt_yield().
__attribute__((visibility("default"))) void sweep_simt_contended();
[[noreturn]] __attribute__((visibility("default"))) void sweep_simt_fail(const char* what,
                                                                         const char* file,
                                                                         int line);
}
