#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/buffer.h"

#include "util/error.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fcntl.h>

namespace sweep::device::cuda {
namespace {

constexpr std::size_t kAlignment = 256;  // of every base, so that vector and bulk loads stay legal

CUmemAllocationProp properties(int ordinal) {
  CUmemAllocationProp out{};
  out.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  out.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  out.location.id = ordinal;
  out.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return out;
}

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

VmmBuffer::VmmBuffer(std::shared_ptr<const Driver> driver, int ordinal, std::size_t bytes)
    : driver_(std::move(driver)), ordinal_(ordinal), bytes_(bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) {
    driver_->check(CUDA_ERROR_OUT_OF_MEMORY, "allocation");
  }
  const CUmemAllocationProp wanted = properties(ordinal);
  driver_->check(
      driver_->cuMemGetAllocationGranularity_(&page_, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity");
  physical_ = round_up(std::max(bytes, std::size_t{1}), page_);
}

std::unique_ptr<VmmBuffer> VmmBuffer::create(std::shared_ptr<const Driver> driver,
                                             int ordinal,
                                             std::size_t bytes) {
  std::unique_ptr<VmmBuffer> out(new VmmBuffer(std::move(driver), ordinal, bytes));
  const Driver& api = *out->driver_;
  const CUmemAllocationProp wanted = properties(ordinal);
  api.check(api.cuMemCreate_(&out->handle_, out->physical_, &wanted, 0), "cuMemCreate");
  out->created_ = true;
  out->map(Access::read_write);
  return out;
}

std::unique_ptr<VmmBuffer> VmmBuffer::import(std::shared_ptr<const Driver> driver,
                                             int ordinal,
                                             util::Fd fd,
                                             std::size_t bytes,
                                             Access access) {
  std::unique_ptr<VmmBuffer> out(new VmmBuffer(std::move(driver), ordinal, bytes));
  const Driver& api = *out->driver_;
  out->imported_ = true;
  // The driver takes the descriptor's number as a pointer.
  auto* number = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd.get()));
  api.check(api.cuMemImportFromShareableHandle_(
                &out->handle_, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            "cuMemImportFromShareableHandle");
  out->created_ = true;
  out->map(access);
  return out;
}

void VmmBuffer::map(Access access) {
  const Driver& api = *driver_;
  api.check(api.cuMemAddressReserve_(&reserved_, physical_ + 2 * kGuard, page_, 0, 0),
            "cuMemAddressReserve");
  api.check(api.cuMemMap_(mapping(), physical_, 0, handle_, 0), "cuMemMap");
  mapped_ = true;
  CUmemAccessDesc rights{};
  rights.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  rights.location.id = ordinal_;
  rights.flags =
      access == Access::read ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  api.check(api.cuMemSetAccess_(mapping(), physical_, &rights, 1), "cuMemSetAccess");
  const std::size_t used = round_up(std::max(bytes_, std::size_t{1}), kAlignment);
  base_ = mapping() + physical_ - used;
}

util::Fd VmmBuffer::export_fd() const {
  if (imported_) {
    throw util::InfraError({"cuda", "only the owner of a buffer can export it", ""}, "E_DEVICE");
  }
  int number = -1;
  driver_->check(driver_->cuMemExportToShareableHandle_(
                     &number, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 "cuMemExportToShareableHandle");
  util::Fd out(number);
  if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
    util::throw_errno("fcntl", "exported device memory");
  }
  return out;
}

// Results are ignored: after a fault every call fails and the process ends anyway.
VmmBuffer::~VmmBuffer() {
  if (mapped_) {
    driver_->cuMemUnmap_(mapping(), physical_);
  }
  if (reserved_ != 0) {
    driver_->cuMemAddressFree_(reserved_, physical_ + 2 * kGuard);
  }
  if (created_) {
    driver_->cuMemRelease_(handle_);
  }
}

}  // namespace sweep::device::cuda
#endif
