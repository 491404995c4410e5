// What the cpu device says about kernels that go wrong.
#include "cpu_fixture.h"

#include <gmock/gmock.h>

#include <cmath>

namespace sweep::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kFaults = R"(
__global__ void two_lines(float* o) {
  if (threadIdx.x & 1) {
    __syncthreads();
    o[0] = 1;
  } else {
    o[1] = 2;
    __syncthreads();
  }
}
__global__ void two_kinds(float* o) { if (threadIdx.x < 5) __syncwarp(); else __syncthreads(); o[0] = 1; }
__global__ void beyond(float* o, int at) { o[at] = 1; }
__global__ void deep(float* o) { volatile float q[40000]; for (int i = 0; i < 40000; ++i) q[i] = i; o[0] = q[5]; }
__global__ void by_zero(int* o, int z) { o[0] = 7 / z; }
__global__ void missing_barrier(float* o) {
  __shared__ float t[256];
  t[threadIdx.x] = threadIdx.x;
  o[threadIdx.x] = t[(threadIdx.x + 1) % 256];
}
__global__ void stale(float* o) { __shared__ float t[64]; o[threadIdx.x] = t[threadIdx.x]; t[threadIdx.x] = 1; }
__global__ void too_much_dynamic(float* o) { extern __shared__ float d[]; d[threadIdx.x + 1] = 1; o[0] = d[0]; }
__global__ void asserts(float* o) { assert(o == nullptr); o[0] = 1; }
)";

std::string run_fault(const std::string& kernel, unsigned threads, unsigned shared = 0) {
  CpuProgram p(kFaults,
               {"two_lines",
                "two_kinds",
                "beyond",
                "deep",
                "by_zero",
                "missing_barrier",
                "stale",
                "too_much_dynamic",
                "asserts"});
  const auto o = p.buffer(std::vector<float>(256));
  return p.run(kernel, 1, threads, shared, o);
}

TEST(CpuFault, DivergentBarriers) {
  EXPECT_THAT(run_fault("two_lines", 64),
              ContainsRegex("two_lines: divergent barrier.*line [48].*line [48]"));
  EXPECT_THAT(run_fault("two_kinds", 64), HasSubstr("divergent barrier"));
}

TEST(CpuFault, StackAndAssertion) {
  EXPECT_THAT(run_fault("deep", 1), HasSubstr("64 KiB of stack"));
  EXPECT_THAT(run_fault("asserts", 1), HasSubstr("assertion failed: o == nullptr"));
}

TEST(CpuFault, SharedMemoryBeyondTheLaunch) {
  EXPECT_THAT(run_fault("too_much_dynamic", 32, 32 * 4), HasSubstr("beyond the 128 dynamic bytes"));
  EXPECT_EQ(run_fault("too_much_dynamic", 32, 33 * 4), "");
}

TEST(CpuFault, WriteBeyondABufferNamesTheAddress) {
  CpuProgram p(kFaults, {"beyond"});
  const auto o = p.buffer(std::vector<float>(256));  // 1024 bytes: a page border follows
  EXPECT_EQ(p.run("beyond", 1, 1, 0, o, 255), "");
  EXPECT_THAT(p.run("beyond", 1, 1, 0, o, 256), HasSubstr("SIGSEGV"));
  EXPECT_EQ(p.last_fault.kind, device::Fault::Kind::memory);
  EXPECT_EQ(p.last_fault.address, o + 1024);
}

TEST(CpuFault, ReadOnlyImport) {
  CpuProgram p(kFaults, {"beyond"});
  const auto owner = p.device().allocate(1024);
  const auto guest = p.device().import(owner->export_fd(), 1024, device::Access::read);
  EXPECT_THAT(p.run("beyond", 1, 1, 0, guest->address(), 3), HasSubstr("SIGSEGV"));
  EXPECT_EQ(*reinterpret_cast<const float*>(owner->address() + 12), 0.0F);
}

TEST(CpuFault, DivisionByZero) {
  CpuProgram p(kFaults, {"by_zero"});
  const auto o = p.buffer(std::vector<int>(1));
  EXPECT_THAT(p.run("by_zero", 1, 1, 0, o, 0), HasSubstr("SIGFPE"));
}

TEST(CpuFault, LaunchLimits) {
  CpuProgram p(kFaults, {"beyond"});
  const auto o = p.buffer(std::vector<float>(256));
  EXPECT_THAT(p.run("beyond", 1, 1025, 0, o, 0), HasSubstr("block (1025, 1, 1)"));
  EXPECT_THAT(p.run("beyond", 1, 1, 232449, o, 0), HasSubstr("shared memory"));
  EXPECT_THAT(p.run("beyond", 1, 1, 0, o), HasSubstr("1 arguments for 2 parameters"));
  EXPECT_THAT(p.run("nothing", 1, 1, 0, o), HasSubstr("no such kernel"));
  device::Launch launch{"beyond", {2, 1, 1}, {1, 1, 1}, 0, {argument(o), argument(0)}};
  launch.attributes.cluster = {2, 1, 1};
  EXPECT_THAT(p.run(launch), HasSubstr("unsupported on device cpu"));
  launch.attributes = {{}, true, false};
  EXPECT_THAT(p.run(launch), HasSubstr("unsupported on device cpu"));
}

// A keyed order of threads shows the race; in ascending order this kernel would be right.
TEST(CpuRace, MissingBarrierGivesWrongValues) {
  CpuProgram p(kFaults, {"missing_barrier"});
  const auto o = p.buffer(std::vector<float>(256));
  ASSERT_EQ(p.run("missing_barrier", 1, 256, 0, o), "");
  const auto values = p.read<float>(o, 256);
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += values[i] == static_cast<float>((i + 1) % 256) ? 0 : 1;
  }
  EXPECT_GT(wrong, 0);
}

TEST(CpuShared, IsPoisonedBetweenBlocks) {
  CpuProgram p(kFaults, {"stale"});
  const auto o = p.buffer(std::vector<float>(64));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(p.run("stale", 4, 64, 0, o), "");
    for (const float v : p.read<float>(o, 64)) {
      ASSERT_TRUE(std::isnan(v));
    }
  }
}

}  // namespace
}  // namespace sweep::test
