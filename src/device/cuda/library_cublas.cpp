#include "device/cuda/library.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace sweep::device::cuda {
namespace {

// cuBLAS' C interface as documented.
using BlasHandle = void*;
using BlasStatus = int;
constexpr int kNoTranspose = 0, kTranspose = 1;
constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32I = 72, kComputeTf32 = 77;
constexpr int kDefaultGemm = -1;
// What cuBLAS would take for itself on Hopper. Under capture it must not allocate.
constexpr std::size_t kBlasWorkspace = std::size_t{32} << 20U;

struct BlasApi {
  BlasStatus (*create)(BlasHandle*) = nullptr;
  BlasStatus (*destroy)(BlasHandle) = nullptr;
  BlasStatus (*set_stream)(BlasHandle, void*) = nullptr;
  BlasStatus (*set_workspace)(BlasHandle, void*, std::size_t) = nullptr;
  const char* (*status_text)(BlasStatus) = nullptr;
  BlasStatus (*gemm)(BlasHandle,
                     int,
                     int,
                     std::int64_t,
                     std::int64_t,
                     std::int64_t,
                     const void*,
                     const void*,
                     int,
                     std::int64_t,
                     long long,
                     const void*,
                     int,
                     std::int64_t,
                     long long,
                     const void*,
                     void*,
                     int,
                     std::int64_t,
                     long long,
                     std::int64_t,
                     int,
                     int) = nullptr;

  void check(BlasStatus status, const char* call) const {
    if (status != 0) {
      library_failed(call, status_text(status));
    }
  }
};

// In the order of library_functions().
enum class Gemm { a, b, c, m, n, k, batch, transpose_a, transpose_b, stride_a, stride_b, tf32 };

// How the products are summed, by the types of the matrices.
int compute_type(expr::DType a, expr::DType c, bool tf32) {
  using expr::DType;
  if (a == DType::f32 && c == DType::f32) {
    return tf32 ? kComputeTf32 : kCompute32F;
  }
  if (a == DType::f64 && c == DType::f64) {
    return kCompute64F;
  }
  if ((a == DType::f16 || a == DType::bf16) && (c == a || c == DType::f32)) {
    return kCompute32F;
  }
  if (a == DType::i8 && c == DType::i32) {
    return kCompute32I;
  }
  library_failed(
      "cublas.gemm",
      "takes no " + std::string(expr::name(a)) + " for a result of " + std::string(expr::name(c)));
}

class GemmCall final : public LibraryCall {
 public:
  GemmCall(const BlasApi& api, std::span<const LibraryArgument> arguments, void* stream)
      : api_(api), arguments_(arguments.begin(), arguments.end()) {
    if (at(Gemm::a).type != at(Gemm::b).type) {
      library_failed("cublas.gemm", "a and b have different types");
    }
    compute_ = compute_type(at(Gemm::a).type, at(Gemm::c).type, number(Gemm::tf32) != 0);
    api_.check(api_.create(&handle_), "cublasCreate");
    if (const BlasStatus status = api_.set_stream(handle_, stream); status != 0) {
      (void)api_.destroy(handle_);
      api_.check(status, "cublasSetStream");
    }
  }

  GemmCall(const GemmCall&) = delete;
  GemmCall& operator=(const GemmCall&) = delete;

  ~GemmCall() override { (void)api_.destroy(handle_); }

  [[nodiscard]] std::size_t workspace_bytes() const override { return kBlasWorkspace; }

  // cuBLAS counts columns first: it computes the transpose of c, b's before a's.
  void enqueue(Address workspace) override {
    const std::int64_t m = number(Gemm::m), n = number(Gemm::n), k = number(Gemm::k);
    const bool ta = number(Gemm::transpose_a) != 0, tb = number(Gemm::transpose_b) != 0;
    const auto stride = [&](Gemm given, std::int64_t dense) {
      return static_cast<long long>(number(given) < 0 ? dense : number(given));
    };
    if (std::exchange(workspace_, workspace) != workspace) {
      // Before a capture, by the call that warms.
      api_.check(api_.set_workspace(handle_, reinterpret_cast<void*>(workspace), kBlasWorkspace),
                 "cublasSetWorkspace");
    }
    api_.check(api_.gemm(handle_,
                         tb ? kTranspose : kNoTranspose,
                         ta ? kTranspose : kNoTranspose,
                         n,
                         m,
                         k,
                         one(),
                         pointer(Gemm::b),
                         cuda_data_type(at(Gemm::b).type),
                         tb ? k : n,
                         stride(Gemm::stride_b, k * n),
                         pointer(Gemm::a),
                         cuda_data_type(at(Gemm::a).type),
                         ta ? m : k,
                         stride(Gemm::stride_a, m * k),
                         zero(),
                         pointer(Gemm::c),
                         cuda_data_type(at(Gemm::c).type),
                         n,
                         static_cast<long long>(m) * n,
                         number(Gemm::batch),
                         compute_,
                         kDefaultGemm),
               "cublasGemmStridedBatchedEx_64");
  }

 private:
  [[nodiscard]] const LibraryArgument& at(Gemm which) const {
    return arguments_.at(static_cast<std::size_t>(which));
  }

  [[nodiscard]] std::int64_t number(Gemm which) const { return at(which).number; }

  [[nodiscard]] void* pointer(Gemm which) const {
    return reinterpret_cast<void*>(at(which).address);
  }

  [[nodiscard]] const void* one() const {
    return compute_ == kCompute64F   ? static_cast<const void*>(&one64_)
           : compute_ == kCompute32I ? static_cast<const void*>(&one32i_)
                                     : static_cast<const void*>(&one32_);
  }

  [[nodiscard]] const void* zero() const { return &zero_; }

  const BlasApi& api_;
  std::vector<LibraryArgument> arguments_;
  BlasHandle handle_ = nullptr;
  Address workspace_ = 0;
  int compute_ = kCompute32F;
  double one64_ = 1, zero_ = 0;  // all bits of zero are 0 in every type
  float one32_ = 1;
  std::int32_t one32i_ = 1;
};

class Cublas final : public VendorLibrary {
 public:
  explicit Cublas(SharedLibrary library) : VendorLibrary(std::move(library)) {
    bind("cublasCreate_v2", api_.create);
    bind("cublasDestroy_v2", api_.destroy);
    bind("cublasSetStream_v2", api_.set_stream);
    bind("cublasSetWorkspace_v2", api_.set_workspace);
    bind("cublasGetStatusString", api_.status_text);
    bind("cublasGemmStridedBatchedEx_64", api_.gemm);
  }

  [[nodiscard]] std::unique_ptr<LibraryCall> call(std::span<const LibraryArgument> arguments,
                                                  void* stream) override {
    return std::make_unique<GemmCall>(api_, arguments, stream);
  }

 private:
  BlasApi api_;
};

}  // namespace

std::unique_ptr<VendorLibrary> make_cublas(SharedLibrary library) {
  return std::make_unique<Cublas>(std::move(library));
}

}  // namespace sweep::device::cuda
