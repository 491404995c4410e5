#include "device/cpu/memory.h"

#include "util/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::device::cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlign = 256;
// Unmapped on both sides, address space only: an index that is off by some rows must not land in a
// neighbour.
constexpr std::size_t kGuard = std::size_t{1} << 28U;

std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

std::size_t data_pages(std::size_t bytes) {
  return std::max(kPage, round_up(round_up(bytes, kAlign), kPage));
}

[[noreturn]] void throw_no_memory(std::size_t bytes, int error) {
  throw util::InfraError({"cpu device, buffer of " + std::to_string(bytes) + " bytes",
                          std::string("not enough memory: ") + strerror(error),
                          "use a smaller shape or a machine with more memory"},
                         "E_DEVICE_MEMORY");
}

// None where a filter forbids memory files.
util::Fd memory_file(std::size_t bytes) {
  util::Fd fd(memfd_create("sweep-buffer", MFD_CLOEXEC));
  if (!fd) {
    if (errno == EPERM) {
      return fd;
    }
    util::throw_errno("memfd_create", "cpu device, buffer of " + std::to_string(bytes) + " bytes");
  }
  // Takes the pages now: a lack of memory is an error here and not a signal later.
  if (ftruncate(fd.get(), static_cast<off_t>(data_pages(bytes))) != 0 ||
      fallocate(fd.get(), 0, 0, static_cast<off_t>(data_pages(bytes))) != 0) {
    throw_no_memory(bytes, errno);
  }
  return fd;
}

// A read-only description of the same file: mprotect cannot make its mappings writable.
util::Fd read_only(util::Fd fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  util::Fd reopened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return reopened ? std::move(reopened) : std::move(fd);
}

}  // namespace

std::size_t CpuBuffer::front() const {
  return address_ % kPage;
}

CpuBuffer::CpuBuffer(util::Fd fd, std::size_t bytes, Access access) : bytes_(bytes) {
  const std::size_t data = data_pages(bytes);
  mapped_ = data + 2 * kGuard;
  void* base =
      mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    util::throw_errno("mmap", "cpu device, buffer of " + std::to_string(bytes) + " bytes");
  }
  base_ = static_cast<char*>(base);
  const int rights = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  const int kind = fd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  if (mmap(base_ + kGuard, data, rights, kind | MAP_FIXED, fd.get(), 0) == MAP_FAILED) {
    const int error = errno;
    munmap(base_, mapped_);
    throw_no_memory(bytes, error);
  }
  address_ = reinterpret_cast<Address>(base_ + kGuard + data - round_up(bytes, kAlign));
  fd_ = std::move(fd);
}

CpuBuffer::~CpuBuffer() {
  munmap(base_, mapped_);
}

std::unique_ptr<CpuBuffer> CpuBuffer::make(std::size_t bytes) {
  util::Fd fd = memory_file(bytes);
  return std::unique_ptr<CpuBuffer>(new CpuBuffer(std::move(fd), bytes, Access::read_write));
}

std::unique_ptr<CpuBuffer> CpuBuffer::map(util::Fd fd, std::size_t bytes, Access access) {
  struct stat file = {};
  if (fstat(fd.get(), &file) != 0) {
    util::throw_errno("fstat", "cpu device, imported buffer");
  }
  if (static_cast<std::size_t>(file.st_size) != data_pages(bytes)) {
    throw util::InfraError({"cpu device, imported buffer",
                            "the descriptor holds " + std::to_string(file.st_size) +
                                " bytes, expected " + std::to_string(data_pages(bytes)),
                            {}},
                           "E_DEVICE_IMPORT");
  }
  if (access == Access::read) {
    fd = read_only(std::move(fd));
  }
  std::unique_ptr<CpuBuffer> buffer(new CpuBuffer(std::move(fd), bytes, access));
  buffer->fd_.reset();
  return buffer;
}

util::Fd CpuBuffer::export_fd() const {
  if (!fd_) {
    throw util::InfraError({"cpu device, buffer", "only the owner of a memory file exports it", {}},
                           "E_DEVICE_EXPORT");
  }
  return fd_.duplicate();
}

}  // namespace sweep::device::cpu
