#pragma once

#include "device/cuda/code.h"
#include "device/cuda/driver.h"
#include "device/cuda/library.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace sweep::device::cuda {

// A vendor library in the place of a cubin. Trusted code.
class LibraryModule final : public Module {
 public:
  // Throws as VendorLibrary::open().
  LibraryModule(std::shared_ptr<const Driver> driver,
                std::string_view function,
                const std::string& path);

  // The library's kernels are its own affair.
  [[nodiscard]] FunctionFacts facts(std::string_view kernel) const override;
  [[nodiscard]] int occupancy(std::string_view kernel,
                              int threads,
                              std::size_t shared_bytes) const override;

  // Makes the call of the one step once on `stream`, so that the library loads and chooses its
  // kernels, then captures it. What the library refuses is a Fault of kind launch.
  [[nodiscard]] std::variant<std::unique_ptr<CudaSequence>, Fault> prepare(
      std::span<const Step> steps, CUstream stream);

 private:
  class Held;

  [[nodiscard]] std::variant<CUgraph, Fault> capture(Held& held, CUstream stream) const;

  std::shared_ptr<const Driver> driver_;
  std::string function_;
  std::unique_ptr<VendorLibrary> library_;
};

}  // namespace sweep::device::cuda
