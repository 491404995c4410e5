#pragma once

#include "device/device.h"

namespace sweep::device::cpu {

// A mapping, mostly of a memfd, between two unmapped guard pages, right-aligned: the data rounded
// up to 256 bytes ends at the upper guard.
class CpuBuffer final : public Buffer {
 public:
  // Zeroed memory of its own: a memory file that can be exported, or, where the process may make
  // none (util::lock_down), private memory. Throws util::InfraError E_DEVICE_MEMORY.
  [[nodiscard]] static std::unique_ptr<CpuBuffer> make(std::size_t bytes);
  // The memory of another owner, `bytes` as it was made. Access::read is enforced by the mapping.
  [[nodiscard]] static std::unique_ptr<CpuBuffer> map(util::Fd fd,
                                                      std::size_t bytes,
                                                      Access access);
  ~CpuBuffer() override;
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;

  [[nodiscard]] Address address() const override { return address_; }

  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  [[nodiscard]] std::size_t front() const override;
  [[nodiscard]] util::Fd export_fd() const override;

 private:
  // Without a descriptor: private memory.
  CpuBuffer(util::Fd fd, std::size_t bytes, Access access);

  util::Fd fd_;  // none for an importer: it holds nothing that could be mapped again
  std::size_t bytes_;
  char* base_ = nullptr;
  std::size_t mapped_ = 0;
  Address address_ = 0;
};

}  // namespace sweep::device::cpu
