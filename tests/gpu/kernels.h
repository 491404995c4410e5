#pragma once

#include "device/cuda/cuda_device.h"
#include "device/device.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace sweep::gpu {

// Compiles CUDA text for device 0's architecture; throws std::runtime_error with the log.
[[nodiscard]] device::Image compile(const std::string& source,
                                    const std::vector<std::string>& kernels);

// An image as a file from its start, and back.
void write_image(int fd, const device::Image& image);
[[nodiscard]] device::Image read_image(int fd);

// A value as a kernel argument's bytes.
template <typename Value>
[[nodiscard]] std::vector<std::byte> bytes_of(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<std::byte> out(sizeof(Value));
  std::memcpy(out.data(), &value, sizeof(Value));
  return out;
}

// extern "C" poke(char* at, unsigned* sink) stores one byte, peek loads one.
extern const char* const kTouch;

// Kernels that fault, each taking one pointer to 1024 bytes: wild, misaligned, trap, wide_shared,
// assertion-free.
extern const char* const kFaults;

// Kernels for graphs.
extern const char* const kPlain;

// Kernels that look for what an earlier kernel left in shared or local memory.
extern const char* const kGhosts;

}  // namespace sweep::gpu
