#pragma once

#include "device/device.h"

namespace sweep::device {

// What a kernel can reach through a buffer without a fault, whole words: its contents, the slack up
// to the next multiple of 256 and, on the cpu device, the rest of the page of 4 KiB before them. On
// cuda the rest of the granule (2 MiB) before a buffer is left out.
struct Reach {
  Address begin = 0;
  std::size_t bytes = 0;
  std::size_t front = 0;  // of them before the contents
};

[[nodiscard]] inline Reach reach(const Buffer& buffer, const Info& info) {
  constexpr Address kPage = 4096;
  const std::size_t front = info.uuid == "cpu" ? buffer.address() % kPage : 0;
  return {buffer.address() - front, front + (buffer.bytes() + 255) / 256 * 256, front};
}

}  // namespace sweep::device
