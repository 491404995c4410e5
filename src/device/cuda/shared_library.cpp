#include "device/cuda/shared_library.h"

#include <utility>

#include <dlfcn.h>

namespace sweep::device::cuda {

std::optional<SharedLibrary> SharedLibrary::open(std::span<const std::filesystem::path> candidates,
                                                 std::string& reasons) {
  reasons.clear();
  for (const auto& candidate : candidates) {
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      return SharedLibrary(handle, candidate);
    }
    const char* reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : "unknown");
  }
  return std::nullopt;
}

SharedLibrary::SharedLibrary(void* handle, std::filesystem::path path) noexcept
    : handle_(handle), path_(std::move(path)) {}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return dlsym(handle_, name);
}

}  // namespace sweep::device::cuda
