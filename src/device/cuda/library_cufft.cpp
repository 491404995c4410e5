#include "device/cuda/library.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace sweep::device::cuda {
namespace {

// cuFFT's C interface as documented.
using FftPlan = int;
using FftStatus = int;
constexpr int kC2C = 0x29, kZ2Z = 0x69;
constexpr int kForward = -1, kInverse = 1;

struct FftApi {
  FftStatus (*create)(FftPlan*) = nullptr;
  FftStatus (*destroy)(FftPlan) = nullptr;
  FftStatus (*set_stream)(FftPlan, void*) = nullptr;
  FftStatus (*own_workspace)(FftPlan, int) = nullptr;
  FftStatus (*set_workspace)(FftPlan, void*) = nullptr;
  FftStatus (*make_plan)(FftPlan,
                         int,
                         long long*,
                         long long*,
                         long long,
                         long long,
                         long long*,
                         long long,
                         long long,
                         int,
                         long long,
                         std::size_t*) = nullptr;
  FftStatus (*execute)(FftPlan, void*, void*, int) = nullptr;         // c64
  FftStatus (*execute_double)(FftPlan, void*, void*, int) = nullptr;  // c128

  static void check(FftStatus status, const char* call) {
    if (status != 0) {
      library_failed(call, "cuFFT status " + std::to_string(status));
    }
  }
};

// In the order of library_functions().
enum class Fft { x, y, n0, n1, n2, batch, inverse };

class FftCall final : public LibraryCall {
 public:
  FftCall(const FftApi& api, std::span<const LibraryArgument> arguments, void* stream)
      : api_(api), arguments_(arguments.begin(), arguments.end()) {
    const expr::DType type = at(Fft::x).type;
    if (!expr::is_complex(type) || at(Fft::y).type != type) {
      library_failed("cufft.c2c", "x and y must both be c64 or both c128");
    }
    FftApi::check(api_.create(&plan_), "cufftCreate");
    try {
      make(stream, type == expr::DType::c64 ? kC2C : kZ2Z);
    } catch (...) {
      (void)api_.destroy(plan_);
      throw;
    }
  }

  FftCall(const FftCall&) = delete;
  FftCall& operator=(const FftCall&) = delete;

  ~FftCall() override { (void)api_.destroy(plan_); }

  [[nodiscard]] std::size_t workspace_bytes() const override { return bytes_; }

  void enqueue(Address workspace) override {
    if (std::exchange(workspace_, workspace) != workspace) {
      // Before a capture, by the call that warms.
      FftApi::check(api_.set_workspace(plan_, reinterpret_cast<void*>(workspace)),
                    "cufftSetWorkArea");
    }
    const bool single = at(Fft::x).type == expr::DType::c64;
    const int direction = at(Fft::inverse).number != 0 ? kInverse : kForward;
    FftApi::check(
        (single ? api_.execute : api_.execute_double)(plan_,
                                                      reinterpret_cast<void*>(at(Fft::x).address),
                                                      reinterpret_cast<void*>(at(Fft::y).address),
                                                      direction),
        single ? "cufftExecC2C" : "cufftExecZ2Z");
  }

 private:
  void make(void* stream, int type) {
    std::array<long long, 3> sizes{};
    int rank = 0;
    for (const Fft side : {Fft::n0, Fft::n1, Fft::n2}) {
      if (at(side).number > 0) {
        sizes.at(static_cast<std::size_t>(rank++)) = at(side).number;
      }
    }
    if (rank == 0) {
      library_failed("cufft.c2c", "has no length");
    }
    FftApi::check(api_.own_workspace(plan_, 0), "cufftSetAutoAllocation");
    FftApi::check(api_.make_plan(plan_,
                                 rank,
                                 sizes.data(),
                                 nullptr,
                                 1,
                                 0,
                                 nullptr,
                                 1,
                                 0,
                                 type,
                                 at(Fft::batch).number,
                                 &bytes_),
                  "cufftMakePlanMany64");
    FftApi::check(api_.set_stream(plan_, stream), "cufftSetStream");
  }

  [[nodiscard]] const LibraryArgument& at(Fft which) const {
    return arguments_.at(static_cast<std::size_t>(which));
  }

  const FftApi& api_;
  std::vector<LibraryArgument> arguments_;
  FftPlan plan_ = 0;
  Address workspace_ = 0;
  std::size_t bytes_ = 0;
};

class Cufft final : public VendorLibrary {
 public:
  explicit Cufft(SharedLibrary library) : VendorLibrary(std::move(library)) {
    bind("cufftCreate", api_.create);
    bind("cufftDestroy", api_.destroy);
    bind("cufftSetStream", api_.set_stream);
    bind("cufftSetAutoAllocation", api_.own_workspace);
    bind("cufftSetWorkArea", api_.set_workspace);
    bind("cufftMakePlanMany64", api_.make_plan);
    bind("cufftExecC2C", api_.execute);
    bind("cufftExecZ2Z", api_.execute_double);
  }

  [[nodiscard]] std::unique_ptr<LibraryCall> call(std::span<const LibraryArgument> arguments,
                                                  void* stream) override {
    return std::make_unique<FftCall>(api_, arguments, stream);
  }

 private:
  FftApi api_;
};

}  // namespace

std::unique_ptr<VendorLibrary> make_cufft(SharedLibrary library) {
  return std::make_unique<Cufft>(std::move(library));
}

}  // namespace sweep::device::cuda
