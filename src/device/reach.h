#pragma once

#include "device/device.h"

namespace sweep::device {

// What a kernel can reach through a buffer without a fault, whole words: the rest of the first page
// before its contents, the contents, and the slack up to the next multiple of 256.
struct Reach {
  Address begin = 0;
  std::size_t bytes = 0;
  std::size_t front = 0;  // of them before the contents
};

[[nodiscard]] inline Reach reach(const Buffer& buffer) {
  const std::size_t front = buffer.front();
  return {buffer.address() - front, front + (buffer.bytes() + 255) / 256 * 256, front};
}

}  // namespace sweep::device
