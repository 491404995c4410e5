#include "device/cuda/nvrtc.h"
#include "problem/fill.h"
#include "util/error.h"

#include <gtest/gtest.h>

namespace sweep::evaluate {
namespace {

TEST(FillKernel, CompilesForHopper) {
  try {
    const auto nvrtc = device::cuda::Nvrtc::load();
    const auto compiled =
        nvrtc.compile({"fill.cu",
                       problem::fill_device_source(),
                       {"-arch=sm_90a", "-std=c++20", "--fmad=false"},
                       {problem::kFillKernels.begin(), problem::kFillKernels.end()},
                       {}});
    EXPECT_TRUE(compiled.ok) << compiled.log;
  } catch (const util::UsageError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace sweep::evaluate
