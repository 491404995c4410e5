// Launch attributes on the device: clusters, cooperative launches and early starts. Kernels report
// what they see.
#include "fixture.h"

#include <gmock/gmock.h>

#include <array>

namespace sweep::gpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kText = R"(
using u32 = unsigned int;
using u64 = unsigned long long;
__device__ u64 now() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__device__ void see(u32* out) {
  u32 size, rank;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = size * 100 + rank;
}
extern "C" __global__ void sizes(u32* out, int unused) { see(out); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) pairs(u32* out, int unused) { see(out); }
// Each block hands its rank to the next one of the cluster.
extern "C" __global__ void pass_on(u32* out) {
  __shared__ u32 box;
  u32 rank, size, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
  u32 here = (u32)__cvta_generic_to_shared(&box);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) % size));
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(rank + 10) : "memory");
  asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
  out[blockIdx.x] = box;
}
// All blocks meet: ends only where all are resident.
extern "C" __global__ void meet(u32* count, u32* out) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) {}
    out[blockIdx.x] = 1;
  }
}
// times[0..1]: begin and end. Lets the next one begin at once, then works on.
extern "C" __global__ void first(u64* times, u64 ns) {
  times[0] = now();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  while (now() - times[0] < ns) {}
  times[1] = now();
}
extern "C" __global__ void hasty(u64* times, u64 slot) { times[slot] = now(); }
extern "C" __global__ void patient(u64* times, u64 slot) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  times[slot] = now();
}
)";

class Attributes : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped()) {
      module_ =
          load(compile(kText, {"sizes", "pairs", "pass_on", "meet", "first", "hasty", "patient"}));
      ASSERT_NE(module_, nullptr);
      out_ = on().allocate(kWords * 4);
      on().fill_words(out_->address(), kWords * 4, 0);
    }
  }

  [[nodiscard]] device::Launch reports(const std::string& kernel, std::uint32_t blocks) const {
    return {kernel, {blocks, 1, 1}, {32, 1, 1}, 0, {bytes_of(out_->address()), bytes_of(0)}};
  }

  [[nodiscard]] std::vector<std::uint32_t> seen(std::size_t count) {
    return download<std::uint32_t>(out_->address(), count);
  }

  // The fault of preparing or, failing that, of running one launch.
  [[nodiscard]] device::Fault refused(const device::Launch& launch) {
    const std::vector<device::Step> steps{launch};
    auto made = on().prepare(*module_, steps);
    if (auto* fault = std::get_if<device::Fault>(&made)) {
      return *fault;
    }
    auto ran = on().run(*std::get<0>(made));
    if (auto* fault = std::get_if<device::Fault>(&ran)) {
      return *fault;
    }
    ADD_FAILURE() << launch.kernel << " ran";
    return {};
  }

  static constexpr std::size_t kWords = 4096;
  std::unique_ptr<device::Module> module_;
  std::unique_ptr<device::Buffer> out_;
};

TEST_F(Attributes, ClustersHaveTheSizeThatTheLaunchSays) {
  for (const std::uint32_t size : {1U, 2U, 4U, 8U, 16U}) {  // 16: only with permission
    device::Launch launch = reports("sizes", 16);
    launch.attributes.cluster = {size, 1, 1};
    run_once(*module_, launch);
    for (std::uint32_t block = 0; block < 16; ++block) {
      EXPECT_EQ(seen(16)[block], size * 100 + block % size) << size;
    }
  }
  device::Launch flat = reports("sizes", 2);
  flat.grid = {2, 2, 1};
  flat.attributes.cluster = {2, 2, 1};
  run_once(*module_, flat);
  EXPECT_THAT(seen(4), ElementsAre(400, 401, 402, 403));
  run_once(*module_, reports("sizes", 4));
  EXPECT_THAT(seen(4), Each(100));
}

TEST_F(Attributes, DeclaredClustersNeedNoAttribute) {
  run_once(*module_, reports("pairs", 4));
  EXPECT_THAT(seen(4), ElementsAre(200, 201, 200, 201));
  device::Launch same = reports("pairs", 4);
  same.attributes.cluster = {2, 1, 1};
  run_once(*module_, same);
  EXPECT_THAT(seen(4), ElementsAre(200, 201, 200, 201));
  same.attributes.cluster = {4, 1, 1};
  EXPECT_THAT(refused(same).text, HasSubstr("declares clusters of (2, 1, 1)"));
  EXPECT_THAT(refused(reports("pairs", 3)).text, HasSubstr("no multiple of its cluster"));
}

TEST_F(Attributes, BlocksOfAClusterReachEachOther) {
  device::Launch launch{"pass_on", {8, 1, 1}, {1, 1, 1}, 0, {bytes_of(out_->address())}};
  launch.attributes.cluster = {4, 1, 1};
  run_once(*module_, launch);
  EXPECT_THAT(seen(8), ElementsAre(13, 10, 11, 12, 13, 10, 11, 12));
}

TEST_F(Attributes, ClustersThatCannotBeAreFaults) {
  device::Launch launch = reports("sizes", 17);
  launch.attributes.cluster = {17, 1, 1};
  EXPECT_EQ(refused(launch).kind, device::Fault::Kind::launch);
  launch.attributes.cluster = {2, 1, 1};
  EXPECT_THAT(refused(launch).text, HasSubstr("no multiple of its cluster"));
}

TEST_F(Attributes, ArgumentsOfAClusterChange) {
  device::Launch launch = reports("sizes", 4);
  launch.attributes.cluster = {4, 1, 1};
  const std::vector<device::Step> before{launch};
  auto sequence = prepare(*module_, before);
  ASSERT_NE(sequence, nullptr);
  const auto other = on().allocate(64);
  launch.arguments[0] = bytes_of(other->address());
  const std::vector<device::Step> after{launch};
  if (!on().update(*sequence, after)) {
    sequence = prepare(*module_, after);
  }
  run(*sequence);
  EXPECT_THAT(download<std::uint32_t>(other->address(), 4), ElementsAre(400, 401, 402, 403));
}

TEST_F(Attributes, ACooperativeGridIsResidentOrRefused) {
  const auto most =
      static_cast<std::uint32_t>(module_->occupancy("meet", 1024, 0) * on().info().sm_count);
  ASSERT_LE(most + 1, kWords);
  device::Launch launch{"meet",
                        {most, 1, 1},
                        {1024, 1, 1},
                        0,
                        {bytes_of(out_->address()), bytes_of(out_->address() + 4)}};
  launch.attributes.cooperative = true;
  run_once(*module_, launch);
  EXPECT_EQ(seen(1)[0], most);
  launch.grid[0] = most + 1;
  EXPECT_EQ(refused(launch).kind, device::Fault::Kind::launch);
}

class EarlyStart : public Attributes {
 protected:
  static constexpr std::uint64_t kWork = 3'000'000;  // ns of the first kernel
  static constexpr std::uint64_t kSlack = 2'000;     // %globaltimer may tick in steps of 1 us

  [[nodiscard]] device::Launch step(const std::string& kernel, std::uint64_t value, bool early) {
    device::Launch launch{
        kernel, {1, 1, 1}, {1, 1, 1}, 0, {bytes_of(out_->address()), bytes_of(value)}};
    launch.attributes.early_start = early;
    return launch;
  }

  // Begin and end of the first kernel, then the times that the others wrote.
  [[nodiscard]] std::vector<std::uint64_t> times(const std::vector<device::Step>& steps) {
    const auto sequence = prepare(*module_, steps);
    if (sequence == nullptr) {
      return std::vector<std::uint64_t>(4);
    }
    seconds_ = run(*sequence).device_seconds;
    return download<std::uint64_t>(out_->address(), 4);
  }

  double seconds_ = 0;
};

TEST_F(EarlyStart, OverlapsTheLaunchBeforeOnlyWhereAskedFor) {
  const auto plain = times({step("first", kWork, false), step("hasty", 2, false)});
  EXPECT_GE(plain[2] + kSlack, plain[1]);
  const auto early = times({step("first", kWork, false), step("hasty", 2, true)});
  EXPECT_LT(early[2], early[1]) << "the second kernel did not begin early";
}

// The second kernel ends at once, the first works on: the end of the call is that of both.
TEST_F(EarlyStart, TheEndWaitsForAllKernels) {
  const auto got = times({step("first", kWork, false), step("hasty", 2, true)});
  EXPECT_LT(got[2], got[1]);
  EXPECT_GE(seconds_, static_cast<double>(kWork) * 0.95e-9);
}

TEST_F(EarlyStart, WaitMeansTheEndOfTheLaunchBefore) {
  const auto got = times({step("first", kWork, false), step("patient", 2, true)});
  EXPECT_GE(got[2] + kSlack, got[1]);
}

TEST_F(EarlyStart, WhatFollowsWaitsForBoth) {
  const auto got =
      times({step("first", kWork, false), step("hasty", 2, true), step("hasty", 3, false)});
  EXPECT_LT(got[2], got[1]);
  EXPECT_GE(got[3] + kSlack, got[1]);
  const auto after_memset = times({step("first", kWork, false),
                                   step("hasty", 2, true),
                                   device::Memset{out_->address() + 24, 8},
                                   step("hasty", 3, true)});
  EXPECT_GE(after_memset[3] + kSlack, after_memset[1]);
}

TEST_F(EarlyStart, NothingOverlapsTheBeginning) {
  const auto got = times({step("hasty", 2, true), step("patient", 3, true)});
  EXPECT_GT(got[2], 0U);
  EXPECT_GE(got[3] + kSlack, got[2]);
}

// More in a row than edges are kept for.
TEST_F(EarlyStart, LongChainsEnd) {
  std::vector<device::Step> steps{step("first", kWork, false)};
  for (int i = 0; i < 200; ++i) {
    steps.emplace_back(step("hasty", 2, true));
  }
  steps.emplace_back(step("patient", 3, true));
  const auto got = times(steps);
  EXPECT_GE(got[3] + kSlack, got[1]);
  EXPECT_GE(seconds_, static_cast<double>(kWork) * 0.95e-9);
}

}  // namespace
}  // namespace sweep::gpu
