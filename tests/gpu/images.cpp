#include "images.h"

#include "device/cuda/nvrtc.h"
#include "problem/compare.h"
#include "problem/fill.h"

#include <stdexcept>

namespace sweep::gpu {
namespace {

device::Image compiled(const std::string& arch,
                       const std::string& text,
                       const std::vector<std::string>& kernels) {
  const auto nvrtc = device::cuda::Nvrtc::load();
  auto made = nvrtc.compile(
      {"harness.cu", text, {"-arch=" + arch, "-std=c++20", "--fmad=false"}, kernels, {}});
  if (!made.ok) {
    throw std::runtime_error(made.log);
  }
  return std::move(made.image);
}

}  // namespace

evaluate::EngineImages engine_images(const std::string& arch) {
  return {compiled(arch,
                   problem::fill_device_source(),
                   {problem::kFillKernels.begin(), problem::kFillKernels.end()}),
          compiled(arch,
                   problem::compare_device_source(),
                   {"sweep_compare_units",
                    "sweep_compare_rows",
                    "sweep_compare_tensor",
                    "sweep_compare_components",
                    "sweep_compare_finish"})};
}

}  // namespace sweep::gpu
