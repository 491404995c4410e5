#pragma once

#include "device/device.h"
#include "problem/fill.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace sweep::evaluate {

// The judge's own work on buffers: filling, copying, comparing bits. Addresses are those of the
// judge's process.
class Engine {
 public:
  virtual ~Engine() = default;

  // Tensor `index` of the plan, whole, to `to`.
  virtual void fill(const problem::FillPlan& plan, std::size_t index, device::Address to) = 0;
  virtual void copy(device::Address to, device::Address from, std::size_t bytes) = 0;
  [[nodiscard]] virtual bool equal(device::Address a, device::Address b, std::size_t bytes) = 0;
  // Every 32-bit word of the range (multiple of 4 bytes) holds the pattern.
  [[nodiscard]] virtual bool all_words(device::Address at,
                                       std::size_t bytes,
                                       std::uint32_t pattern) = 0;
};

// Works on every device through host memory.
[[nodiscard]] std::unique_ptr<Engine> make_host_engine(device::Device& device);

// Fills, copies and compares on a cuda device; what must be made whole on the host is uploaded.
// Compiles the fill kernel with NVRTC in this process. All calls are ordered on the device's
// stream; fill and copy return before they are done.
[[nodiscard]] std::unique_ptr<Engine> make_device_engine(device::Device& device);

// `bytes` bytes at `from` of the device.
[[nodiscard]] std::vector<std::byte> download(device::Device& device,
                                              device::Address from,
                                              std::size_t bytes);

}  // namespace sweep::evaluate
