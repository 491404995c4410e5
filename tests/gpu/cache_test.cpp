#include "device/cuda/harness.h"
#include "fixture.h"

#include <cstdio>

namespace sweep::gpu {
namespace {

// Marks as much of the cache as it can with evict_last, as a hostile candidate does.
constexpr const char* kHoard = R"(
extern "C" __global__ void hoard(const uint4* x, unsigned long long count, unsigned* sink) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  unsigned sum = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    unsigned a, b, c, d;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(x + i), "l"(policy) : "memory");
    sum += a ^ b ^ c ^ d;
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}
)";

class Cache : public OnDevice {
 protected:
  [[nodiscard]] std::unique_ptr<device::Sequence> hoard(std::size_t bytes) {
    memory_ = on().allocate(bytes);
    on().fill_words(memory_->address(), bytes, 1);
    sink_ = on().allocate(4);
    module_ = load(compile(kHoard, {"hoard"}));
    return prepare(*module_,
                   {device::Launch{"hoard",
                                   {static_cast<std::uint32_t>(on().info().sm_count), 1, 1},
                                   {1024, 1, 1},
                                   0,
                                   {bytes_of(memory_->address()),
                                    bytes_of(std::uint64_t{bytes / 16}),
                                    bytes_of(sink_->address())}}});
  }

 private:
  std::unique_ptr<device::Buffer> memory_;
  std::unique_ptr<device::Buffer> sink_;
  std::unique_ptr<device::Module> module_;
};

TEST_F(Cache, FlushEvictsEveryProbeLine) {
  for (int i = 0; i < 20; ++i) {
    const auto share = on().flush_cache();
    ASSERT_TRUE(share.has_value()) << "the probe cannot tell L2 from memory on this device";
    EXPECT_GE(*share, 0.95);
  }
}

TEST_F(Cache, FlushEvictsAfterAHoarder) {
  const auto sequence = hoard(on().info().l2_bytes / 2);
  ASSERT_NE(sequence, nullptr);
  for (int i = 0; i < 10; ++i) {
    run(*sequence);
    run(*sequence);
    const auto share = on().flush_cache();
    ASSERT_TRUE(share.has_value());
    EXPECT_GE(*share, 0.95);
  }
}

// Negative control: marked lines stay when the reset is left out, and the probe says so.
TEST_F(Cache, ProbeSeesLinesThatAFlushWithoutResetLeaves) {
  const auto driver = device::cuda::Driver::load();
  device::cuda::Harness harness(
      driver, 0, on().info(), nullptr, device::cuda::harness_image(on().info().arch));
  ASSERT_TRUE(harness.probe_facts().usable);
  const auto kept = harness.flush(false);
  const auto reset = harness.flush(true);
  ASSERT_TRUE(kept && reset);
  std::printf("figure probe_warm_extra_cycles %d\nfigure probe_cold_extra_cycles %d\n",
              harness.probe_facts().warm_cycles,
              harness.probe_facts().cold_cycles);
  std::printf("figure evicted_share_without_reset %.3f\nfigure evicted_share_with_reset %.3f\n",
              *kept,
              *reset);
  EXPECT_LE(*kept, 0.9);  // half of the lines are marked, and half of those were seen to stay
  EXPECT_GE(*reset, 0.95);
}

}  // namespace
}  // namespace sweep::gpu
