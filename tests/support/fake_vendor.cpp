// Stands in for libcublas, libcusparse and libcufft where there is no GPU: it computes nothing and
// writes down what it was asked, one line a call, for fake_log() to return.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace {

std::string& fake_text() {
  static std::string text;
  return text;
}

int& fake_status() {
  static int status = 0;
  return status;
}

template <typename Value>
std::string text_of(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// Writes down `format` with each {} replaced by the next value.
template <typename... Values>
int said(std::string format, const Values&... values) {
  std::size_t at = 0;
  [[maybe_unused]] const auto put = [&](const std::string& text) {
    at = format.find("{}", at);
    format.replace(at, 2, text);
    at += text.size();
  };
  (put(text_of(values)), ...);
  fake_text() += format + "\n";
  return fake_status();
}

int property(int type, int* value) {
  *value = type == 0 ? 97 : type;
  return 0;
}

unsigned long long number_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

char fake_object;

}  // namespace

extern "C" {

const char* fake_log() {
  return fake_text().c_str();
}

// From now on every call returns `status`; what was written down is forgotten.
void fake_reset(int status) {
  fake_status() = status;
  fake_text().clear();
}

int cublasGetProperty(int type, int* value) {
  return property(type, value);
}

int cusparseGetProperty(int type, int* value) {
  return property(type, value);
}

int cufftGetProperty(int type, int* value) {
  return property(type, value);
}

const char* cublasGetStatusString(int) {
  return "CUBLAS_STATUS_FAKE";
}

int cublasCreate_v2(void** handle) {
  *handle = &fake_object;
  return said("create");
}

int cublasDestroy_v2(void*) {
  return said("destroy");
}

int cublasSetStream_v2(void*, void* stream) {
  return said("stream {}", number_of(stream));
}

int cublasSetWorkspace_v2(void*, void* workspace, std::size_t bytes) {
  return said("workspace {} {}", number_of(workspace), bytes);
}

int cublasGemmStridedBatchedEx_64(void*,
                                  int op_a,
                                  int op_b,
                                  std::int64_t m,
                                  std::int64_t n,
                                  std::int64_t k,
                                  const void*,
                                  const void* a,
                                  int type_a,
                                  std::int64_t lda,
                                  long long stride_a,
                                  const void* b,
                                  int type_b,
                                  std::int64_t ldb,
                                  long long stride_b,
                                  const void*,
                                  void* c,
                                  int type_c,
                                  std::int64_t ldc,
                                  long long stride_c,
                                  std::int64_t batch,
                                  int compute,
                                  int algorithm) {
  return said(
      "gemm {}{} {}x{}x{} a={}:{}/{}/{} b={}:{}/{}/{} c={}:{}/{}/{} "
      "batch={} compute={} algorithm={}",
      op_a,
      op_b,
      static_cast<long long>(m),
      static_cast<long long>(n),
      static_cast<long long>(k),
      number_of(a),
      type_a,
      static_cast<long long>(lda),
      stride_a,
      number_of(b),
      type_b,
      static_cast<long long>(ldb),
      stride_b,
      number_of(c),
      type_c,
      static_cast<long long>(ldc),
      stride_c,
      static_cast<long long>(batch),
      compute,
      algorithm);
}

const char* cusparseGetErrorString(int) {
  return "CUSPARSE_STATUS_FAKE";
}

int cusparseCreate(void** handle) {
  *handle = &fake_object;
  return said("create");
}

int cusparseDestroy(void*) {
  return said("destroy");
}

int cusparseSetStream(void*, void* stream) {
  return said("stream {}", number_of(stream));
}

int cusparseCreateCsr(void** matrix,
                      std::int64_t rows,
                      std::int64_t cols,
                      std::int64_t nnz,
                      void* offsets,
                      void* columns,
                      void* values,
                      int offsets_type,
                      int columns_type,
                      int base,
                      int type) {
  *matrix = &fake_object;
  return said("csr {}x{} nnz={} {}:{} {}:{} {}:{} base={}",
              static_cast<long long>(rows),
              static_cast<long long>(cols),
              static_cast<long long>(nnz),
              number_of(offsets),
              offsets_type,
              number_of(columns),
              columns_type,
              number_of(values),
              type,
              base);
}

int cusparseCreateDnMat(void** matrix,
                        std::int64_t rows,
                        std::int64_t cols,
                        std::int64_t ld,
                        void* values,
                        int type,
                        int order) {
  *matrix = &fake_object;
  return said("dense {}x{} ld={} {}:{} order={}",
              static_cast<long long>(rows),
              static_cast<long long>(cols),
              static_cast<long long>(ld),
              number_of(values),
              type,
              order);
}

int cusparseDestroySpMat(void*) {
  return said("destroy csr");
}

int cusparseDestroyDnMat(void*) {
  return said("destroy dense");
}

int cusparseSpMM_bufferSize(
    void*, int, int, const void*, void*, void*, const void*, void*, int, int, std::size_t* bytes) {
  *bytes = 4096;
  return said("buffer size");
}

int cusparseSpMM(void*,
                 int op_a,
                 int op_b,
                 const void* alpha,
                 void*,
                 void*,
                 const void* beta,
                 void*,
                 int type,
                 int algorithm,
                 void* workspace) {
  const bool wide = type == 1;
  return said("spmm {}{} alpha={} beta={} type={} algorithm={} workspace={}",
              op_a,
              op_b,
              wide ? *static_cast<const double*>(alpha) : double{*static_cast<const float*>(alpha)},
              wide ? *static_cast<const double*>(beta) : double{*static_cast<const float*>(beta)},
              type,
              algorithm,
              number_of(workspace));
}

int cufftCreate(int* plan) {
  *plan = 7;
  return said("create");
}

int cufftDestroy(int plan) {
  return said("destroy {}", plan);
}

int cufftSetStream(int, void* stream) {
  return said("stream {}", number_of(stream));
}

int cufftSetAutoAllocation(int, int own) {
  return said("own workspace {}", own);
}

int cufftSetWorkArea(int, void* workspace) {
  return said("workspace {}", number_of(workspace));
}

int cufftMakePlanMany64(int,
                        int rank,
                        long long* n,
                        long long*,
                        long long,
                        long long,
                        long long*,
                        long long,
                        long long,
                        int type,
                        long long batch,
                        std::size_t* bytes) {
  *bytes = 512;
  return said("plan rank={} {},{} type={} batch={}", rank, n[0], rank > 1 ? n[1] : 0, type, batch);
}

int cufftExecC2C(int, void* from, void* to, int direction) {
  return said("c2c {} {} {}", number_of(from), number_of(to), direction);
}

int cufftExecZ2Z(int, void* from, void* to, int direction) {
  return said("z2z {} {} {}", number_of(from), number_of(to), direction);
}

}  // extern "C"
