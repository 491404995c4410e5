#include "nvrtc.h"
#include "problem/compare.h"
#include "problem/fill.h"

#include <gmock/gmock.h>

#include <string>

// The device text compiles for sm_90a with NVRTC, where that is installed.
namespace sweep::problem {
namespace {

class DeviceText : public testing::Test {
 protected:
  void SetUp() override {
    if (nvrtc_.library == nullptr) {
      GTEST_SKIP() << "libnvrtc.so is neither in $CUDA_HOME nor in /usr/local/cuda";
    }
  }

  Nvrtc nvrtc_;
};

TEST_F(DeviceText, FillsCompile) {
  const Compiled out = compile(nvrtc_, fill_device_source());
  EXPECT_FALSE(out.cubin.empty()) << out.log;
  for (const std::string_view kernel : kFillKernels) {
    EXPECT_THAT(out.cubin, testing::HasSubstr(std::string(kernel)));
  }
  EXPECT_THAT(out.log, testing::Not(testing::HasSubstr("warning")));
}

TEST_F(DeviceText, ComparisonsCompile) {
  const Compiled out = compile(nvrtc_, compare_device_source());
  EXPECT_FALSE(out.cubin.empty()) << out.log;
  for (const char* kernel : {"units", "rows", "tensor", "components", "finish"}) {
    EXPECT_THAT(out.cubin, testing::HasSubstr(std::string("sweep_compare_") + kernel));
  }
  EXPECT_THAT(out.log, testing::Not(testing::HasSubstr("warning")));
}

TEST_F(DeviceText, PlantedMistakeIsSeen) {
  EXPECT_TRUE(compile(nvrtc_, fill_device_source() + "\n__global__ void broken() { nothing(); }\n")
                  .cubin.empty());
}

}  // namespace
}  // namespace sweep::problem
