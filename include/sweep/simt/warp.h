#pragma once
// Warp-wide operations. A lane waits until every living lane of its mask has called one; the value
// read from a lane outside the mask or beyond the block is all ones (NaN), never a plausible
// number.

#include "core.h"

#include <type_traits>

#include <string.h>

namespace sweep_simt {

inline int linear_thread() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

inline int lane() {
  return linear_thread() & 31;
}

template <typename T>
unsigned long long to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                "warp operations take values of at most 8 bytes");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T>
T from_bits(unsigned long long bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

template <typename T>
T shuffle(unsigned mask, T value, int source, int line) {
  return from_bits<T>(sweep_simt_warp(WarpOp::shuffle, mask, to_bits(value), source, line));
}

template <typename T>
T reduce(WarpOp op, unsigned mask, T value, int line) {
  // Signed values travel with their sign.
  const auto wide = static_cast<unsigned long long>(static_cast<long long>(value));
  return static_cast<T>(sweep_simt_warp(op, mask, wide, 0, line));
}

}  // namespace sweep_simt

inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  sweep_simt_warp(sweep_simt::WarpOp::sync, mask, 0, 0, line);
}

template <typename T>
inline T __shfl_sync(
    unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  const int lane = sweep_simt::lane();
  return sweep_simt::shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)), line);
}

template <typename T>
inline T __shfl_up_sync(
    unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  const int lane = sweep_simt::lane();
  const int source = lane - static_cast<int>(delta);
  return sweep_simt::shuffle(mask, value, source < (lane & ~(width - 1)) ? lane : source, line);
}

template <typename T>
inline T __shfl_down_sync(
    unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  const int lane = sweep_simt::lane();
  const int source = lane + static_cast<int>(delta);
  return sweep_simt::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source, line);
}

template <typename T>
inline T __shfl_xor_sync(
    unsigned mask, T value, int bits, int width = 32, int line = __builtin_LINE()) {
  const int lane = sweep_simt::lane();
  const int source = lane ^ bits;
  return sweep_simt::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return static_cast<unsigned>(
      sweep_simt_warp(sweep_simt::WarpOp::ballot, mask, predicate != 0, 0, line));
}

inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}

inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, !predicate, line) == 0;
}

template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  return static_cast<unsigned>(
      sweep_simt_warp(sweep_simt::WarpOp::match_any, mask, sweep_simt::to_bits(value), 0, line));
}

template <typename T>
inline unsigned __match_all_sync(unsigned mask,
                                 T value,
                                 int* predicate,
                                 int line = __builtin_LINE()) {
  const auto all = static_cast<unsigned>(
      sweep_simt_warp(sweep_simt::WarpOp::match_all, mask, sweep_simt::to_bits(value), 0, line));
  *predicate = all != 0;
  return all;
}

inline unsigned __activemask(int line = __builtin_LINE()) {
  return static_cast<unsigned>(
      sweep_simt_warp(sweep_simt::WarpOp::active, 0xffffffffu, 0, 0, line));
}

#define SWEEP_REDUCE(name, T, op)                                                        \
  inline T __reduce_##name##_sync(unsigned mask, T value, int line = __builtin_LINE()) { \
    return sweep_simt::reduce(sweep_simt::WarpOp::op, mask, value, line);                \
  }
SWEEP_REDUCE(add, int, add)
SWEEP_REDUCE(add, unsigned, add)
SWEEP_REDUCE(min, int, min_signed)
SWEEP_REDUCE(min, unsigned, min_unsigned)
SWEEP_REDUCE(max, int, max_signed)
SWEEP_REDUCE(max, unsigned, max_unsigned)
SWEEP_REDUCE(and, unsigned, bit_and)
SWEEP_REDUCE(or, unsigned, bit_or)
SWEEP_REDUCE(xor, unsigned, bit_xor)
#undef SWEEP_REDUCE
