#include "device/cuda/library.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace sweep::device::cuda {
namespace {

// cuSPARSE's C interface as documented (version 12).
using SparseHandle = void*;
using SparseMatrix = void*;
using DenseMatrix = void*;
using SparseStatus = int;
constexpr int kNoOperation = 0;  // operation
constexpr int kBaseZero = 0, kSparseRowMajor = 2;
constexpr int kIndex32 = 2, kIndex64 = 3;
// By the number that a problem gives: the default, CSR_ALG1, CSR_ALG2.
constexpr std::array<int, 3> kSpmmAlgorithms{0, 4, 6};

struct SparseApi {
  SparseStatus (*create)(SparseHandle*) = nullptr;
  SparseStatus (*destroy)(SparseHandle) = nullptr;
  SparseStatus (*set_stream)(SparseHandle, void*) = nullptr;
  const char* (*status_text)(SparseStatus) = nullptr;
  SparseStatus (*create_csr)(SparseMatrix*,
                             std::int64_t,
                             std::int64_t,
                             std::int64_t,
                             void*,
                             void*,
                             void*,
                             int,
                             int,
                             int,
                             int) = nullptr;
  SparseStatus (*create_dense)(
      DenseMatrix*, std::int64_t, std::int64_t, std::int64_t, void*, int, int) = nullptr;
  SparseStatus (*destroy_csr)(SparseMatrix) = nullptr;
  SparseStatus (*destroy_dense)(DenseMatrix) = nullptr;
  SparseStatus (*buffer_size)(SparseHandle,
                              int,
                              int,
                              const void*,
                              SparseMatrix,
                              DenseMatrix,
                              const void*,
                              DenseMatrix,
                              int,
                              int,
                              std::size_t*) = nullptr;
  SparseStatus (*spmm)(SparseHandle,
                       int,
                       int,
                       const void*,
                       SparseMatrix,
                       DenseMatrix,
                       const void*,
                       DenseMatrix,
                       int,
                       int,
                       void*) = nullptr;

  void check(SparseStatus status, const char* call) const {
    if (status != 0) {
      library_failed(call, status_text(status));
    }
  }
};

// In the order of library_functions().
enum class Spmm { offsets, columns, values, b, c, rows, cols, nnz, n, algorithm };

int index_type(expr::DType type) {
  if (type != expr::DType::i32 && type != expr::DType::i64) {
    library_failed("cusparse.spmm", "takes no " + std::string(expr::name(type)) + " as an index");
  }
  return type == expr::DType::i32 ? kIndex32 : kIndex64;
}

// No preprocessing: it would look at the pattern, and every call has another.
class SpmmCall final : public LibraryCall {
 public:
  SpmmCall(const SparseApi& api, std::span<const LibraryArgument> arguments, void* stream)
      : api_(api), arguments_(arguments.begin(), arguments.end()) {
    check_types();
    try {
      make(stream);
    } catch (...) {
      release();
      throw;
    }
  }

  SpmmCall(const SpmmCall&) = delete;
  SpmmCall& operator=(const SpmmCall&) = delete;

  ~SpmmCall() override { release(); }

  [[nodiscard]] std::size_t workspace_bytes() const override { return bytes_; }

  void enqueue(Address workspace) override {
    api_.check(api_.spmm(handle_,
                         kNoOperation,
                         kNoOperation,
                         one(),
                         a_,
                         b_,
                         &zero_,
                         c_,
                         type_,
                         algorithm_,
                         reinterpret_cast<void*>(workspace)),
               "cusparseSpMM");
  }

 private:
  void check_types() {
    const expr::DType values = at(Spmm::values).type;
    if ((values != expr::DType::f32 && values != expr::DType::f64) || at(Spmm::b).type != values ||
        at(Spmm::c).type != values) {
      library_failed("cusparse.spmm", "values, b and c must all be f32 or all f64");
    }
    const std::int64_t wanted = number(Spmm::algorithm);
    if (wanted < 0 || wanted >= static_cast<std::int64_t>(kSpmmAlgorithms.size())) {
      library_failed("cusparse.spmm", "algorithm must be 0 (default), 1 or 2");
    }
    algorithm_ = kSpmmAlgorithms.at(static_cast<std::size_t>(wanted));
    type_ = cuda_data_type(values);
  }

  void make(void* stream) {
    api_.check(api_.create(&handle_), "cusparseCreate");
    api_.check(api_.set_stream(handle_, stream), "cusparseSetStream");
    api_.check(api_.create_csr(&a_,
                               number(Spmm::rows),
                               number(Spmm::cols),
                               number(Spmm::nnz),
                               pointer(Spmm::offsets),
                               pointer(Spmm::columns),
                               pointer(Spmm::values),
                               index_type(at(Spmm::offsets).type),
                               index_type(at(Spmm::columns).type),
                               kBaseZero,
                               type_),
               "cusparseCreateCsr");
    const std::int64_t n = number(Spmm::n);
    api_.check(
        api_.create_dense(&b_, number(Spmm::cols), n, n, pointer(Spmm::b), type_, kSparseRowMajor),
        "cusparseCreateDnMat");
    api_.check(
        api_.create_dense(&c_, number(Spmm::rows), n, n, pointer(Spmm::c), type_, kSparseRowMajor),
        "cusparseCreateDnMat");
    api_.check(api_.buffer_size(handle_,
                                kNoOperation,
                                kNoOperation,
                                one(),
                                a_,
                                b_,
                                &zero_,
                                c_,
                                type_,
                                algorithm_,
                                &bytes_),
               "cusparseSpMM_bufferSize");
  }

  void release() noexcept {
    for (DenseMatrix matrix : {b_, c_}) {
      if (matrix != nullptr) {
        (void)api_.destroy_dense(matrix);
      }
    }
    if (a_ != nullptr) {
      (void)api_.destroy_csr(a_);
    }
    if (handle_ != nullptr) {
      (void)api_.destroy(handle_);
    }
  }

  [[nodiscard]] const LibraryArgument& at(Spmm which) const {
    return arguments_.at(static_cast<std::size_t>(which));
  }

  [[nodiscard]] std::int64_t number(Spmm which) const { return at(which).number; }

  [[nodiscard]] void* pointer(Spmm which) const {
    return reinterpret_cast<void*>(at(which).address);
  }

  [[nodiscard]] const void* one() const {
    return at(Spmm::values).type == expr::DType::f64 ? static_cast<const void*>(&one64_)
                                                     : static_cast<const void*>(&one32_);
  }

  const SparseApi& api_;
  std::vector<LibraryArgument> arguments_;
  SparseHandle handle_ = nullptr;
  SparseMatrix a_ = nullptr;
  DenseMatrix b_ = nullptr, c_ = nullptr;
  std::size_t bytes_ = 0;
  int type_ = 0, algorithm_ = 0;
  double one64_ = 1, zero_ = 0;
  float one32_ = 1;
};

class Cusparse final : public VendorLibrary {
 public:
  explicit Cusparse(SharedLibrary library) : VendorLibrary(std::move(library)) {
    bind("cusparseCreate", api_.create);
    bind("cusparseDestroy", api_.destroy);
    bind("cusparseSetStream", api_.set_stream);
    bind("cusparseGetErrorString", api_.status_text);
    bind("cusparseCreateCsr", api_.create_csr);
    bind("cusparseCreateDnMat", api_.create_dense);
    bind("cusparseDestroySpMat", api_.destroy_csr);
    bind("cusparseDestroyDnMat", api_.destroy_dense);
    bind("cusparseSpMM_bufferSize", api_.buffer_size);
    bind("cusparseSpMM", api_.spmm);
  }

  [[nodiscard]] std::unique_ptr<LibraryCall> call(std::span<const LibraryArgument> arguments,
                                                  void* stream) override {
    return std::make_unique<SpmmCall>(api_, arguments, stream);
  }

 private:
  SparseApi api_;
};

}  // namespace

std::unique_ptr<VendorLibrary> make_cusparse(SharedLibrary library) {
  return std::make_unique<Cusparse>(std::move(library));
}

}  // namespace sweep::device::cuda
