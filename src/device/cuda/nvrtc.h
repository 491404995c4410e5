#pragma once

#include "device/device.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::device::cuda {

// One translation unit for NVRTC.
struct Program {
  std::string file;                                          // name in messages
  std::string source;                                        // CUDA C++ text without NUL bytes
  std::vector<std::string> options;                          // "-arch=sm_90a", "-std=c++20", ...
  std::vector<std::string> kernels;                          // name expressions to lower
  std::vector<std::pair<std::string, std::string>> headers;  // include name and text
};

// What came of compiling it. Not `ok`: only `log` and `error` mean something.
struct Compiled {
  bool ok = false;
  std::string error;  // NVRTC's word for the result, e.g. "NVRTC_ERROR_COMPILATION"
  std::string log;    // as NVRTC wrote it, unbounded
  Image image;        // cubin and each name expression's symbol, in the order of Program::kernels
  std::string ptx;    // empty where NVRTC gives none
};

// NVRTC, opened at run time: needs neither GPU nor driver. Compiles in this process without any
// sandbox, so only the compiler role and the harness's own text may use it.
class Nvrtc {
 public:
  // Looks for libnvrtc.so in `search_path()` unless `candidates` says where. Throws
  // util::UsageError (E_NVRTC_MISSING) that names what to install.
  [[nodiscard]] static Nvrtc load();
  [[nodiscard]] static Nvrtc load(std::span<const std::filesystem::path> candidates);

  // ../lib and lib beside the program, $CUDA_HOME/lib64, /usr/local/cuda/lib64, then the loader's
  // own path.
  [[nodiscard]] static std::vector<std::filesystem::path> search_path();

  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;
  ~Nvrtc();

  [[nodiscard]] std::pair<int, int> version() const;            // {13, 0}
  [[nodiscard]] const std::filesystem::path& library() const;   // what was opened
  [[nodiscard]] std::vector<int> architectures() const;         // 75, 80, ..., ascending
  [[nodiscard]] std::filesystem::path toolkit_include() const;  // beside the library; empty if none

  // A program that does not compile is data; throws util::InfraError only where NVRTC itself breaks
  // its contract.
  [[nodiscard]] Compiled compile(const Program& program) const;

 private:
  struct Api;
  explicit Nvrtc(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace sweep::device::cuda
