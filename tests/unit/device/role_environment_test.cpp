#include "device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace sweep::device {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(RoleEnvironment, CpuNeedsNothing) {
  EXPECT_THAT(role_environment({Kind::cpu, 0}), IsEmpty());
}

TEST(RoleEnvironment, CudaGetsWhatIsSetAndNothingElse) {
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "2,3", 1), 0);
  ASSERT_EQ(unsetenv("CUDA_HOME"), 0);
  ASSERT_EQ(setenv("OPENAI_API_KEY", "secret", 1), 0);
  const auto variables = role_environment({Kind::cuda, 0});
  ASSERT_EQ(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
  ASSERT_EQ(unsetenv("OPENAI_API_KEY"), 0);
  EXPECT_THAT(variables, Contains("CUDA_VISIBLE_DEVICES=2,3"));
  EXPECT_THAT(variables, Contains("CUDA_DISABLE_PTX_JIT=1"));
  EXPECT_THAT(variables, Each(Not(StartsWith("CUDA_HOME="))));
  EXPECT_THAT(variables, Each(Not(StartsWith("OPENAI"))));
}

}  // namespace
}  // namespace sweep::device
