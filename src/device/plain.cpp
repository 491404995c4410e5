#include "device/plain.h"

#include "util/error.h"

#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/driver.h"
#endif

#include <algorithm>

namespace sweep::device {

#ifdef SWEEP_HAVE_CUDA
namespace {

class PlainBuffer final : public Buffer {
 public:
  PlainBuffer(std::shared_ptr<const cuda::Driver> driver, std::size_t bytes)
      : driver_(std::move(driver)), bytes_(bytes) {
    driver_->check(driver_->cuMemAlloc_(&address_, std::max<std::size_t>(bytes, 1)), "cuMemAlloc");
  }

  PlainBuffer(const PlainBuffer&) = delete;
  PlainBuffer& operator=(const PlainBuffer&) = delete;

  // After a fault the context is gone, and the memory with it.
  ~PlainBuffer() override { (void)driver_->cuMemFree_(address_); }

  [[nodiscard]] Address address() const override { return address_; }

  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  [[nodiscard]] std::size_t front() const override { return 0; }

  [[nodiscard]] util::Fd export_fd() const override {
    throw util::InfraError({"cuda", "plain memory cannot be exported", ""}, "E_DEVICE");
  }

 private:
  std::shared_ptr<const cuda::Driver> driver_;
  std::size_t bytes_;
  CUdeviceptr address_ = 0;
};

}  // namespace
#endif

std::unique_ptr<Buffer> allocate_plain(Device& device, Id id, std::size_t bytes) {
#ifdef SWEEP_HAVE_CUDA
  if (id.kind == Kind::cuda) {
    return std::make_unique<PlainBuffer>(cuda::Driver::load(), bytes);
  }
#endif
  (void)id;
  return device.allocate(bytes);
}

}  // namespace sweep::device
