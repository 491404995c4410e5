#pragma once
// The part of cooperative_groups that needs no grid: blocks, tiles of a warp, coalesced threads,
// reduce. Grid and cluster groups are unsupported on device cpu.

#include "maths.h"
#include "warp.h"

namespace cooperative_groups {

struct thread_block {
  static void sync(int line = __builtin_LINE()) { __syncthreads(line); }

  static unsigned thread_rank() { return static_cast<unsigned>(sweep_simt::linear_thread()); }

  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }

  static unsigned size() { return num_threads(); }

  static dim3 group_index() { return blockIdx; }

  static dim3 thread_index() { return threadIdx; }

  static dim3 group_dim() { return blockDim; }

  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() {
  return {};
}

template <unsigned Size, typename Parent = void>
struct thread_block_tile {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "unsupported on device cpu: tiles of more than a warp");

  static unsigned mask() {
    const unsigned ones = Size == 32 ? 0xffffffffu : (1u << (Size % 32)) - 1u;
    return ones << (static_cast<unsigned>(sweep_simt::lane()) / Size * Size % 32);
  }

  static unsigned thread_rank() { return static_cast<unsigned>(sweep_simt::lane()) % Size; }

  static constexpr unsigned size() { return Size; }

  static constexpr unsigned num_threads() { return Size; }

  static unsigned meta_group_rank() {
    return static_cast<unsigned>(sweep_simt::linear_thread()) / Size;
  }

  static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }

  static void sync(int line = __builtin_LINE()) { __syncwarp(mask(), line); }

  template <typename T>
  static T shfl(T v, int source, int line = __builtin_LINE()) {
    return __shfl_sync(mask(), v, source, Size, line);
  }

  template <typename T>
  static T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) {
    return __shfl_down_sync(mask(), v, delta, Size, line);
  }

  template <typename T>
  static T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) {
    return __shfl_up_sync(mask(), v, delta, Size, line);
  }

  template <typename T>
  static T shfl_xor(T v, int bits, int line = __builtin_LINE()) {
    return __shfl_xor_sync(mask(), v, bits, Size, line);
  }

  static int any(int predicate, int line = __builtin_LINE()) {
    return __any_sync(mask(), predicate, line);
  }

  static int all(int predicate, int line = __builtin_LINE()) {
    return __all_sync(mask(), predicate, line);
  }

  static unsigned ballot(int predicate, int line = __builtin_LINE()) {
    const unsigned shift = static_cast<unsigned>(sweep_simt::lane()) / Size * Size % 32;
    return __ballot_sync(mask(), predicate, line) >> shift;
  }
};

template <unsigned Size, typename Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

struct coalesced_group {
  unsigned lanes;

  unsigned size() const { return static_cast<unsigned>(__popc(lanes)); }

  unsigned num_threads() const { return size(); }

  unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(lanes & ((1u << sweep_simt::lane()) - 1u)));
  }

  void sync(int line = __builtin_LINE()) const { __syncwarp(lanes, line); }

  template <typename T>
  T shfl(T v, unsigned rank, int line = __builtin_LINE()) const {
    unsigned rest = lanes;
    for (unsigned i = 0; i < rank; ++i) {
      rest &= rest - 1u;
    }
    return __shfl_sync(lanes, v, __ffs(static_cast<int>(rest)) - 1, 32, line);
  }

  int any(int predicate, int line = __builtin_LINE()) const {
    return __any_sync(lanes, predicate, line);
  }

  int all(int predicate, int line = __builtin_LINE()) const {
    return __all_sync(lanes, predicate, line);
  }
};

inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return {__activemask(line)};
}

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};

template <unsigned Size, typename Parent, typename T, typename F>
inline T reduce(const thread_block_tile<Size, Parent>& tile,
                T v,
                F f,
                int line = __builtin_LINE()) {
  for (unsigned bits = Size / 2; bits > 0; bits /= 2) {
    v = f(v, tile.shfl_xor(v, static_cast<int>(bits), line));
  }
  return v;
}

template <typename Group>
inline void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
