#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

#include <memory>

namespace sweep::device::cuda {

// Device memory from the virtual memory interface: physical pages of 2 MiB mapped between two
// reserved, never mapped guard ranges of 256 MiB each: an index that is off by some rows must not
// land in a neighbour. Contents are right aligned: address() = end of the pages - bytes rounded up
// to 256.
class VmmBuffer final : public Buffer {
 public:
  // New memory of `bytes` bytes (0 counts as 1) on device `ordinal`; contents undefined. Throws
  // util::InfraError E_DEVICE_MEMORY.
  [[nodiscard]] static std::unique_ptr<VmmBuffer> create(std::shared_ptr<const Driver> driver,
                                                         int ordinal,
                                                         std::size_t bytes);

  // Maps what `fd` (from export_fd of a buffer of as many bytes) stands for. Throws
  // util::InfraError.
  [[nodiscard]] static std::unique_ptr<VmmBuffer> import(std::shared_ptr<const Driver> driver,
                                                         int ordinal,
                                                         util::Fd fd,
                                                         std::size_t bytes,
                                                         Access access);

  VmmBuffer(const VmmBuffer&) = delete;
  VmmBuffer& operator=(const VmmBuffer&) = delete;
  ~VmmBuffer() override;

  [[nodiscard]] Address address() const override { return base_; }

  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  [[nodiscard]] std::size_t front() const override { return base_ - mapping(); }

  [[nodiscard]] util::Fd export_fd() const override;

 private:
  static constexpr std::size_t kGuard = std::size_t{1} << 28U;  // a multiple of every page size

  VmmBuffer(std::shared_ptr<const Driver> driver, int ordinal, std::size_t bytes);

  void map(Access access);

  [[nodiscard]] CUdeviceptr mapping() const { return reserved_ + kGuard; }

  std::shared_ptr<const Driver> driver_;
  int ordinal_ = 0;
  bool imported_ = false;
  std::size_t bytes_ = 0;
  std::size_t page_ = 0;      // granularity, bytes
  std::size_t physical_ = 0;  // multiple of page_
  CUmemGenericAllocationHandle handle_ = 0;
  bool created_ = false;
  bool mapped_ = false;
  CUdeviceptr reserved_ = 0;  // physical_ + 2 * kGuard bytes
  Address base_ = 0;
};

}  // namespace sweep::device::cuda
