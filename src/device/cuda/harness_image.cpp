#include "device/cuda/cuda_device.h"
#include "device/cuda/nvrtc.h"
#include "embedded_cuda_kernels.h"
#include "util/error.h"

#include <string>

namespace sweep::device::cuda {

OwnSource own_source() {
  const auto files = embedded::cuda_kernels();
  return {std::string(files.front().name),
          std::string(files.front().text),
          {"flush_write",
           "flush_read",
           "find_contradictions",
           "probe_touch",
           "probe_time",
           "wash_shared",
           "wash_local<256>",
           "wash_local<1024>",
           "wash_local<2048>",
           "wash_local<4096>",
           "wash_local<8192>",
           "wash_local<16384>",
           "wash_local<32768>",
           "wash_local<65536>"}};
}

Image harness_image(const std::string& arch) {
  const Nvrtc nvrtc = Nvrtc::load();
  OwnSource source = own_source();
  Program program;
  program.file = std::move(source.file);
  program.source = std::move(source.text);
  program.options = {"-arch=" + arch, "-std=c++20"};
  program.kernels = std::move(source.kernels);
  Compiled compiled = nvrtc.compile(program);
  if (!compiled.ok) {
    throw util::InfraError(
        {"the harness's device code",
         "does not compile for " + arch + ": " + compiled.error + "\n" + compiled.log,
         "check that NVRTC (" + nvrtc.library().string() + ") knows " + arch},
        "E_HARNESS_KERNELS");
  }
  return std::move(compiled.image);
}

}  // namespace sweep::device::cuda
