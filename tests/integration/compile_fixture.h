#pragma once

#include "cpu_fixture.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace sweep::test {

// The ways in which a submission becomes an image.
enum class Way { gxx, nvrtc, nvcc, ptxas };

inline const char* name(Way way) {
  constexpr const char* kNames[] = {"gxx", "nvrtc", "nvcc", "ptxas"};
  return kNames[static_cast<int>(way)];
}

// Why this machine cannot compile so; empty: it can.
inline std::string missing(Way way) {
  const compile::Toolchain& tools = compiler().toolchain();
  switch (way) {
    case Way::gxx:
      return tools.gxx_reason;
    case Way::nvrtc:
      return tools.nvrtc_reason;
    case Way::nvcc:
      return tools.nvcc_reason + tools.ptxas_reason + tools.gxx_reason;
    case Way::ptxas:
      return tools.ptxas_reason;
  }
  return {};
}

inline compile::Request request_for(Way way,
                                    const std::string& source,
                                    std::vector<std::string> kernels = {"k"}) {
  compile::Request request = cpu_request(source, std::move(kernels));
  if (way != Way::gxx) {
    request.target = {device::Kind::cuda, "sm_90a"};
  }
  request.nvcc = way == Way::nvcc;
  if (way == Way::ptxas) {
    request.file = "test.ptx";
    request.language = submission::Language::ptx;
  }
  return request;
}

inline compile::Result compile_by(Way way,
                                  const std::string& source,
                                  std::vector<std::string> kernels = {"k"}) {
  return compiler().compile(request_for(way, source, std::move(kernels)));
}

inline constexpr const char* kSecret = "SWEEP_TEST_SECRET_47";

// A file that everyone may read, outside every folder the role may read.
class PlantedFile {
 public:
  PlantedFile() : folder_("sweep-planted"), path_(folder_.path() / ".env") {
    std::ofstream(path_) << kSecret << " = 1;\nint " << kSecret << ";\n";
    chmod(folder_.path().c_str(), 0755);
    chmod(path_.c_str(), 0644);
  }

  [[nodiscard]] const std::string& path() const { return path_.native(); }

 private:
  util::TempDir folder_;
  std::filesystem::path path_;
};

// ".visible .entry k" with one parameter, its address in %a; `body` without the final return.
inline std::string ptx_kernel(const std::string& body, const std::string& module = {}) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + module +
         "\n.visible .entry k(.param .u64 p) {\n.reg .u64 %a; .reg .u32 %r;\n"
         "ld.param.u64 %a, [p];\ncvta.to.global.u64 %a, %a;\n" +
         body + "\nst.global.u32 [%a], 1;\nret;\n}\n";
}

}  // namespace sweep::test
