#pragma once

#include "device/cuda/shared_library.h"
#include "device/library.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::device::cuda {

// One call of a library function with everything fixed. Ends before its library.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;

  // Device memory that enqueue() needs, at a multiple of 256.
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;

  // Puts the call's work on the stream; may be captured into a graph. Throws util::InfraError
  // "E_LIBRARY".
  virtual void enqueue(Address workspace) = 0;
};

// An open vendor library. Its C interface is declared here as documented, so that no header of it
// is needed.
class VendorLibrary {
 public:
  // The library of a function of library_functions(), from search_path(). Throws util::UsageError
  // "E_LIBRARY_UNKNOWN" or "E_LIBRARY_MISSING" (not found, does not load, lacks a function).
  [[nodiscard]] static std::unique_ptr<VendorLibrary> open(std::string_view function);
  [[nodiscard]] static std::unique_ptr<VendorLibrary> open(
      std::string_view function, std::span<const std::filesystem::path> candidates);

  // Where it is looked for: lib/ beside the program, $CUDA_HOME/lib64, /usr/local/cuda/lib64, then
  // wherever the loader looks; the newest known major version first.
  [[nodiscard]] static std::vector<std::filesystem::path> search_path(std::string_view function);

  virtual ~VendorLibrary() = default;
  VendorLibrary(const VendorLibrary&) = delete;
  VendorLibrary& operator=(const VendorLibrary&) = delete;

  [[nodiscard]] const LibraryInfo& info() const { return info_; }

  // The call of `function` with these arguments (library_arguments()) on `stream`, a CUstream of
  // the current context. Throws util::InfraError "E_LIBRARY" for types that the library does not
  // take and for what the library refuses.
  [[nodiscard]] virtual std::unique_ptr<LibraryCall> call(
      std::span<const LibraryArgument> arguments, void* stream) = 0;

 protected:
  explicit VendorLibrary(SharedLibrary library) : library_(std::move(library)) {}

  // Sets `function` or remembers its name for complete().
  template <typename Function>
  void bind(const char* name, Function*& function) {
    if (!resolve(library_, name, function)) {
      missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
    }
  }

 private:
  // Reads path and version. `prefix` names <prefix>GetProperty. Throws where a function is missing.
  void complete(const std::string& name, const char* property);

  SharedLibrary library_;
  std::string missing_;
  LibraryInfo info_;
};

// The libraries, bound; complete() was not called yet.
[[nodiscard]] std::unique_ptr<VendorLibrary> make_cublas(SharedLibrary library);
[[nodiscard]] std::unique_ptr<VendorLibrary> make_cusparse(SharedLibrary library);
[[nodiscard]] std::unique_ptr<VendorLibrary> make_cufft(SharedLibrary library);

// cudaDataType of a tensor's type; -1: none of the libraries takes it.
[[nodiscard]] int cuda_data_type(expr::DType type);

[[noreturn]] void library_failed(const std::string& call, const std::string& what);

}  // namespace sweep::device::cuda
