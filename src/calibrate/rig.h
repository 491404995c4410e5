#pragma once

#include "calibrate/material.h"
#include "device/device.h"
#include "evaluate/harness.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sweep::calibrate {

// A device opened in this process for the program's own kernels; no other code ever runs here.
// Nobody else may use the device meanwhile: the caller holds its lock.
class Rig {
 public:
  // `harness` is the device's own code (evaluate::harness_images). Throws as device::open().
  Rig(device::Id id, const evaluate::HarnessImages& harness);

  [[nodiscard]] const device::Info& info() const { return device_->info(); }

  [[nodiscard]] std::size_t free_bytes() const { return device_->free_bytes(); }

  // Throws util::InfraError "E_CALIBRATE_DEVICE" for a fault, also those below.
  [[nodiscard]] std::unique_ptr<device::Module> load(const device::Image& image);

  // A buffer filled with one word.
  [[nodiscard]] std::unique_ptr<device::Buffer> buffer(std::size_t bytes, std::uint32_t word = 1);

  // Something to run with the memory that it runs on.
  struct Prepared {
    std::vector<std::unique_ptr<device::Buffer>> buffers;
    std::unique_ptr<device::Sequence> sequence;  // ends before its buffers
  };

  [[nodiscard]] Prepared prepare(device::Module& module, const std::vector<device::Step>& steps);

  // The plan of `code` for these free dims, on buffers whose words differ.
  [[nodiscard]] Prepared prepare(device::Module& module,
                                 const evaluate::Code& code,
                                 const problem::Problem& problem,
                                 const expr::IntEnv& free);

  // Seconds between the events of one run. Cold: after a flush, where that takes at most 5 ms.
  [[nodiscard]] double run(const Prepared& prepared, bool cold);

  // Median of `count` runs after one that is not counted.
  [[nodiscard]] double median(const Prepared& prepared, int count, bool cold);

  void synchronize() { device_->synchronize(); }

 private:
  std::unique_ptr<device::Device> device_;
  bool flush_ = true;
};

// Bytes of an argument of a launch.
template <class T>
[[nodiscard]] std::vector<std::byte> argument(const T& value) {
  const auto bytes = std::as_bytes(std::span<const T, 1>(&value, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace sweep::calibrate
