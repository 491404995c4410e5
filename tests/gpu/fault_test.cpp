#include "child.h"
#include "fixture.h"

#include <gmock/gmock.h>

namespace sweep::gpu {
namespace {

using ::testing::StartsWith;

// A fault ends a context, so each runs in a process of its own.
class Faults : public OnDevice {
 protected:
  [[nodiscard]] static std::string child(const std::string& kernel) {
    const ChildResult result = run_child("fault", {kernel}, -1);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }
};

TEST_F(Faults, ArePlacedByKind) {
  EXPECT_EQ(child("fine"), "ok\n");
  EXPECT_THAT(child("wild"), StartsWith("fault memory: CUDA error 700"));
  EXPECT_THAT(child("misaligned"), StartsWith("fault memory: CUDA error 716"));
  EXPECT_THAT(child("trap"), StartsWith("fault other: CUDA error 719"));
  EXPECT_THAT(child("wide_shared"), StartsWith("fault "));
}

TEST_F(Faults, LocalMemoryBeyondTheWashersReachIsRefusedAtLoading) {
  const auto image = compile(
      "extern \"C\" __global__ void big(unsigned* x) { unsigned own[100000]; volatile unsigned* at "
      "= own;"
      " asm volatile(\"\" : \"+l\"(at)); for (int i = 0; i < 100000; ++i) at[i] = i; *x = at[*x]; "
      "}",
      {"big"});
  const auto loaded = on().load(image);
  const auto* fault = std::get_if<device::Fault>(&loaded);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, device::Fault::Kind::out_of_memory);
}

TEST_F(Faults, AStaticArrayLargerThanTheDeviceIsRefusedAtLoading) {
  const auto image = compile(
      "__device__ char store[1ull << 38];\n"
      "extern \"C\" __global__ void big(unsigned* x) { store[*x] = 1; x[1] = store[x[2]]; }",
      {"big"});
  const auto loaded = on().load(image);
  const auto* fault = std::get_if<device::Fault>(&loaded);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, device::Fault::Kind::out_of_memory);
}

}  // namespace
}  // namespace sweep::gpu
