#pragma once

#include <sweep/simt/runtime.h>

#include <bit>
#include <cstdint>

namespace sweep::device::cpu {

// Number of a thread in its block: x runs fastest.
inline unsigned linear(uint3 thread, uint3 block) {
  return thread.x + block.x * (thread.y + block.y * thread.z);
}

// Calls f(lane) for each bit set, ascending.
template <typename F>
void for_each_lane(std::uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

}  // namespace sweep::device::cpu
