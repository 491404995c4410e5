#pragma once
// Keywords and barriers of CUDA C++ for the cpu device. A block runs on one OS thread, so
// thread-local memory is its shared memory.

#include "runtime.h"

#define __global__
#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(n)
// `extern __shared__ T x[]` becomes an undefined TLS symbol that the compile step defines.
#define __shared__ thread_local
// The loader makes such a section read-only: a store into a constant faults.
#define SWEEP_TEXT_(x) #x
#define SWEEP_TEXT(x) SWEEP_TEXT_(x)
#define __constant__ __attribute__((section(".data.rel.ro.sweep." SWEEP_TEXT(__COUNTER__))))

inline constexpr int warpSize = 32;

inline void __syncthreads(int line = __builtin_LINE()) {
  sweep_simt_barrier(sweep_simt::Vote::none, 0, line);
}

inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return sweep_simt_barrier(sweep_simt::Vote::count, predicate != 0, line);
}

inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return sweep_simt_barrier(sweep_simt::Vote::all, predicate != 0, line);
}

inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return sweep_simt_barrier(sweep_simt::Vote::any, predicate != 0, line);
}

inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// Lets the other threads of the block run.
inline void __nanosleep(unsigned) {
  sweep_simt_yield();
}

inline long long clock64() {
  return static_cast<long long>(__builtin_ia32_rdtsc());
}

[[noreturn]] inline void __trap() {
  sweep_simt_fail("__trap()", "", 0);
}

inline void cudaGridDependencySynchronize() {}

inline void cudaTriggerProgrammaticLaunchCompletion() {}
