#pragma once

#include "device/device.h"
#include "evaluate/store.h"
#include "problem/compare.h"
#include "problem/fill.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::evaluate {

// A tensor on the device; no bytes where the problem has none.
struct Region {
  device::Address address = 0;
  std::size_t bytes = 0;
};

// One output beside the truth: problem::CompareInputs on the device.
struct CompareJob {
  problem::CompareParameters parameters;
  std::vector<std::int64_t> shape;
  Region got, oracle, seed, base, scale, unless, otherwise;
  std::optional<std::uint32_t> poison;

  [[nodiscard]] problem::CompareBytes sizes() const {
    return {got.bytes,
            oracle.bytes,
            seed.bytes,
            base.bytes,
            scale.bytes,
            unless.bytes,
            otherwise.bytes};
  }
};

// The judge's own work on buffers: filling, copying, comparing. Addresses are those of the
// judge's process.
class Engine {
 public:
  virtual ~Engine() = default;

  // Tensor `index` of the plan, whole, to `to`.
  virtual void fill(const problem::FillPlan& plan, std::size_t index, device::Address to) = 0;
  virtual void copy(device::Address to, device::Address from, std::size_t bytes) = 0;
  // Which of the claims hold, in order (device::Device::holds).
  [[nodiscard]] virtual std::vector<bool> holds(std::span<const device::Claim> claims) = 0;
  // The rule of docs/problem_format.md, section "Comparison".
  [[nodiscard]] virtual problem::Comparison compare(const CompareJob& job) = 0;
};

// Works on every device through host memory.
[[nodiscard]] std::unique_ptr<Engine> make_host_engine(device::Device& device);

// Device code of the device engine.
struct EngineImages {
  device::Image fill, compare;
};

// Fills, copies and compares on a cuda device; what must be made whole on the host is uploaded. All
// calls are ordered on the device's stream; fill and copy return before they are done. Throws
// util::InfraError E_HARNESS_KERNELS for images that do not load.
[[nodiscard]] std::unique_ptr<Engine> make_device_engine(device::Device& device,
                                                         Store& store,
                                                         const EngineImages& images);

// `bytes` bytes at `from` of the device.
[[nodiscard]] std::vector<std::byte> download(device::Device& device,
                                              device::Address from,
                                              std::size_t bytes);

}  // namespace sweep::evaluate
