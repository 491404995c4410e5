// CUDA features of the cpu device, compiled by the real compiler role.

#include "cpu_fixture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace sweep::test {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<float> ramp(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

constexpr const char* kBasics = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>
__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
template <typename T, int N> __global__ void __launch_bounds__(256) scale(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * T(N) + T(weights[1]);
}
__device__ __forceinline__ float warp_sum(float v) {
  #pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float part[32];
  extern __shared__ __align__(16) float dyn[];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += __ldg(x + i);
  dyn[threadIdx.x] = s;
  __syncthreads();
  s = warp_sum(dyn[threadIdx.x ^ 1]);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.f;
    s = warp_sum(s);
    if (threadIdx.x == 0) atomicAdd(out, s);
  }
}
__global__ void halves(const __half* a, const __half* b, __half* c, __nv_bfloat16* d) {
  const int i = threadIdx.x;
  c[i] = __hfma(a[i], b[i], __float2half(1.f));
  d[i] = __float2bfloat16(__half2float(a[i])) * __nv_bfloat16(2.f);
}
__global__ void vectors(const float4* x, float4* y) {
  float4 v = x[threadIdx.x];
  y[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}
__global__ void grid3(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
)";

CpuProgram& basics() {
  static CpuProgram program(
      kBasics, {"scale<float, 3>", "scale<double, 2>", "block_sum", "halves", "vectors", "grid3"});
  return program;
}

TEST(CpuSimt, TemplatesAndConstants) {
  auto& p = basics();
  const auto x = p.buffer(ramp(1000));
  const auto y = p.buffer(std::vector<float>(1000));
  ASSERT_EQ(p.run("scale<float, 3>", 4, 256, 0, x, y, 1000), "");
  EXPECT_EQ(p.read<float>(y, 1000)[999], 999 * 3 + 0.5F);
}

TEST(CpuSimt, SharedMemoryAndShuffles) {
  auto& p = basics();
  const auto x = p.buffer(ramp(10000));
  const auto out = p.buffer(std::vector<float>(1));
  ASSERT_EQ(p.run("block_sum", 8, 256, 1024, x, out, 1000), "");
  EXPECT_EQ(p.read<float>(out, 1)[0], 499500.0F);
}

TEST(CpuSimt, HalfAndBfloat16) {
  auto& p = basics();
  const auto a = p.buffer(std::vector<std::uint16_t>{0x3c00, 0x4200});  // 1, 3
  const auto b = p.buffer(std::vector<std::uint16_t>{0x3800, 0x4000});  // 0.5, 2
  const auto c = p.buffer(std::vector<std::uint16_t>(2));
  const auto d = p.buffer(std::vector<std::uint16_t>(2));
  ASSERT_EQ(p.run("halves", 1, 2, 0, a, b, c, d), "");
  EXPECT_THAT(p.read<std::uint16_t>(c, 2), testing::ElementsAre(0x3e00, 0x4700));  // 1.5, 7
  EXPECT_THAT(p.read<std::uint16_t>(d, 2), testing::ElementsAre(0x4000, 0x40c0));  // 2, 6
}

TEST(CpuSimt, Vectors) {
  auto& p = basics();
  const auto x = p.buffer(ramp(8));
  const auto y = p.buffer(std::vector<float>(8));
  ASSERT_EQ(p.run("vectors", 1, 2, 0, x, y), "");
  EXPECT_THAT(p.read<float>(y, 8), testing::ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
}

// Names that the harness or the C library has too are free for kernels, as they are under NVRTC.
TEST(CpuSimt, KernelsMayHaveNamesOfOthers) {
  const std::vector<std::string> names = {"sweep", "simt", "index", "select", "remove", "gamma"};
  std::string source;
  for (std::size_t i = 0; i < names.size(); ++i) {
    source += "__global__ void " + names[i] + "(int* out) { atomicAdd(out, " +
              std::to_string(1 << i) + "); }\n";
  }
  CpuProgram p(source, names);
  const auto out = p.buffer(std::vector<int>(1));
  for (const std::string& name : names) {
    ASSERT_EQ(p.run(name, 1, 1, 0, out), "") << name;
  }
  EXPECT_EQ(p.read<int>(out, 1)[0], 63);
}

TEST(CpuSimt, ThreeDimensions) {
  auto& p = basics();
  constexpr int kBlocks = 2 * 3 * 4;
  constexpr int kThreads = 4 * 3 * 5;
  const auto out = p.buffer(std::vector<int>(kBlocks * kThreads));
  ASSERT_EQ(p.run({"grid3", {2, 3, 4}, {4, 3, 5}, 0, {argument(out)}}), "");
  const auto values = p.read<int>(out, kBlocks * kThreads);
  for (int i = 0; i < kBlocks * kThreads; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i / kThreads * 1000 + i % kThreads);
  }
}

constexpr const char* kWarps = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void votes(int* out) {
  const int lane = threadIdx.x & 31;
  if (lane == 5) out[0] = __popc(__ballot_sync(0xffffffffu, lane < 7));
  else { const unsigned b = __ballot_sync(0xffffffffu, lane < 7); if (lane == 6) out[1] = b; }
  out[2 + lane] = __any_sync(0xffffffffu, lane == 31) + 2 * __all_sync(0xffffffffu, lane >= 0) + 4 * __all_sync(0xffffffffu, lane);
}
__global__ void shuffles(int* out) {
  const int t = threadIdx.x;
  out[t] = __shfl_sync(0xffffffffu, t, 3, 8);
  out[32 + t] = __shfl_up_sync(0xffffffffu, t, 1);
  out[64 + t] = __shfl_xor_sync(0xffffffffu, t, 1);
  out[96 + t] = __reduce_add_sync(0xffffffffu, t);
  out[128 + t] = __match_any_sync(0xffffffffu, t % 2);
}
__global__ void halves_of_a_warp(int* out) {
  int v = threadIdx.x;
  const unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  for (int d = 8; d > 0; d >>= 1) v += __shfl_xor_sync(mask, v, d);
  if (threadIdx.x >= 16) v += __shfl_xor_sync(0xffff0000u, 0, 1);
  out[threadIdx.x] = v;
}
__global__ void active(int* out) {
  if (threadIdx.x % 3 == 0) {
    const unsigned m = __activemask();
    if ((threadIdx.x & 31) == __ffs(m) - 1) atomicAdd(out, __popc(m));
  }
}
__global__ void early_exit(int* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = __syncthreads_count(threadIdx.x < 7);
}
__global__ void tiles(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  out[block.thread_rank()] = cg::reduce(tile, int(block.thread_rank()), cg::plus<int>());
}
__global__ void votes_of_block(int* out) {
  out[threadIdx.x] = __syncthreads_and(threadIdx.x < 100) + 2 * __syncthreads_or(threadIdx.x == 99) + 4 * __syncthreads_and(threadIdx.x < 99);
}
)";

CpuProgram& warps() {
  static CpuProgram program(
      kWarps,
      {"votes", "shuffles", "halves_of_a_warp", "active", "early_exit", "tiles", "votes_of_block"});
  return program;
}

TEST(CpuWarp, ShufflesReductionsAndMatches) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(160));
  ASSERT_EQ(p.run("shuffles", 1, 32, 0, out), "");
  const auto v = p.read<int>(out, 160);
  for (int t = 0; t < 32; ++t) {
    const auto at = static_cast<std::size_t>(t);
    EXPECT_EQ(v[at], t / 8 * 8 + 3);
    EXPECT_EQ(v[32 + at], t == 0 ? 0 : t - 1);
    EXPECT_EQ(v[64 + at], t ^ 1);
    EXPECT_EQ(v[96 + at], 496);
    EXPECT_EQ(static_cast<unsigned>(v[128 + at]), t % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU);
  }
}

TEST(CpuWarp, SubsetsWithTheirOwnMasks) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(32));
  ASSERT_EQ(p.run("halves_of_a_warp", 1, 32, 0, out), "");
  const auto v = p.read<int>(out, 32);
  EXPECT_EQ(v[3], 120);
  EXPECT_EQ(v[20], 376);
}

TEST(CpuWarp, ActiveMaskHoldsTheLanesOfTheBranch) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(1));
  ASSERT_EQ(p.run("active", 3, 100, 0, out), "");
  EXPECT_EQ(p.read<int>(out, 1)[0], 3 * 34);
}

TEST(CpuWarp, BallotsInTwoBranches) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(40));
  ASSERT_EQ(p.run("votes", 1, 32, 0, out), "");
  const auto v = p.read<int>(out, 34);
  EXPECT_EQ(v[0], 7);
  EXPECT_EQ(v[1], 127);
  EXPECT_THAT(std::vector<int>(v.begin() + 2, v.end()), Each(3));
}

TEST(CpuBarrier, EndedThreadsAreNotWaitedFor) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(64));
  ASSERT_EQ(p.run("early_exit", 1, 64, 0, out), "");
  EXPECT_EQ(p.read<int>(out, 64)[39], 7);
}

TEST(CpuBarrier, Votes) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(100));
  ASSERT_EQ(p.run("votes_of_block", 1, 100, 0, out), "");
  EXPECT_THAT(p.read<int>(out, 100), Each(3));
}

TEST(CpuGroups, TilesReduce) {
  auto& p = warps();
  const auto out = p.buffer(std::vector<int>(64));
  ASSERT_EQ(p.run("tiles", 1, 64, 0, out), "");
  const auto v = p.read<int>(out, 64);
  EXPECT_EQ(v[0], 28);
  EXPECT_EQ(v[63], 476);
}

constexpr const char* kAtomics = R"(
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  atomicAdd(i, 1); atomicSub(i + 1, 2); atomicMin(i + 2, -int(threadIdx.x)); atomicMax(i + 3, int(threadIdx.x));
  atomicXor(i + 4, 1); atomicOr(i + 5, 1 << (threadIdx.x & 7)); atomicAnd(i + 6, 0xf0);
  atomicInc(u, 9); atomicDec(u + 1, 9); atomicExch(u + 2, 7u);
  atomicAdd(l, 1ull << 33); atomicAdd(f, 0.5f); atomicAdd(d, 0.25);
  int old = i[7], seen;
  do { seen = old; old = atomicCAS(i + 7, seen, seen + 3); } while (old != seen);
}
__global__ void lock(int* o) {
  bool done = false;
  while (!done) {
    if (atomicCAS(o, 0, 1) == 0) { o[1] = o[1] + 1; __syncwarp(1u << (threadIdx.x & 31)); atomicExch(o, 0); done = true; }
  }
}
__global__ void bits(unsigned* o) {
  o[0] = __popc(0xf0f0u); o[1] = __clz(1); o[2] = __ffs(8); o[3] = __brev(1u); o[4] = __umulhi(0x80000000u, 6u);
  o[5] = __float_as_uint(1.f); o[6] = __byte_perm(0x33221100u, 0x77665544u, 0x7531); o[7] = __float2int_rn(2.5f);
  o[8] = __float2uint_rz(-3.f); o[9] = __dp4a(0x01020304, 0x01010101, 5); o[10] = __funnelshift_l(0x80000000u, 1u, 1);
  o[11] = max(3, 4u); o[12] = min(-1.f, 2.f) == -1.f; o[13] = __float2int_rz(1e20f); o[14] = __clz(0);
}
__global__ void maths(float* o) {
  o[0] = rsqrtf(4.f); o[1] = __expf(0.f); o[2] = __fdividef(1.f, 4.f); o[3] = fmaf(2.f, 3.f, 4.f); o[4] = __fsqrt_rn(9.f);
  float s, c; sincosf(0.f, &s, &c); o[5] = s + 2 * c; o[6] = erff(0.f); o[7] = exp2f(3.f); o[8] = __saturatef(7.f);
  o[9] = powf(2.f, 10.f); o[10] = tanhf(0.f); o[11] = erfinvf(erff(0.5f)); o[12] = normcdff(0.f); o[13] = fmaxf(NAN, 1.f);
}
)";

CpuProgram& atomics() {
  static CpuProgram program(kAtomics, {"atomics", "lock", "bits", "maths"});
  return program;
}

TEST(CpuAtomics, CountEveryThread) {
  auto& p = atomics();
  constexpr int kThreads = 8 * 256;
  const auto i = p.buffer(std::vector<int>{0, 0, 0, 0, 0, 0, 0xff, 0});
  const auto u = p.buffer(std::vector<unsigned>{0, 0, 0});
  const auto l = p.buffer(std::vector<unsigned long long>{0});
  const auto f = p.buffer(std::vector<float>{0});
  const auto d = p.buffer(std::vector<double>{0});
  ASSERT_EQ(p.run("atomics", 8, 256, 0, i, u, l, f, d), "");
  EXPECT_THAT(
      p.read<int>(i, 8),
      testing::ElementsAre(kThreads, -2 * kThreads, -255, 255, 0, 0xff, 0xf0, 3 * kThreads));
  EXPECT_THAT(p.read<unsigned>(u, 3), testing::ElementsAre(kThreads % 10, 2, 7));
  EXPECT_EQ(p.read<unsigned long long>(l, 1)[0], static_cast<unsigned long long>(kThreads) << 33);
  EXPECT_EQ(p.read<float>(f, 1)[0], kThreads * 0.5F);
  EXPECT_EQ(p.read<double>(d, 1)[0], kThreads * 0.25);
}

TEST(CpuAtomics, ALockAcrossASwitchEnds) {
  auto& p = atomics();
  const auto o = p.buffer(std::vector<int>{0, 0});
  ASSERT_EQ(p.run("lock", 2, 64, 0, o), "");
  EXPECT_EQ(p.read<int>(o, 2)[1], 128);
}

TEST(CpuIntrinsics, Bits) {
  auto& p = atomics();
  const auto o = p.buffer(std::vector<unsigned>(15));
  ASSERT_EQ(p.run("bits", 1, 1, 0, o), "");
  EXPECT_THAT(
      p.read<unsigned>(o, 15),
      testing::ElementsAre(
          8, 31, 4, 0x80000000U, 3, 0x3f800000U, 0x77553311U, 2, 0, 15, 3, 4, 1, 0x7fffffffU, 32));
}

TEST(CpuIntrinsics, Mathematics) {
  auto& p = atomics();
  const auto o = p.buffer(std::vector<float>(14));
  ASSERT_EQ(p.run("maths", 1, 1, 0, o), "");
  const std::vector<float> expected = {0.5F, 1, 0.25F, 10, 3, 2, 0, 8, 1, 1024, 0, 0.5F, 0.5F, 1};
  const auto values = p.read<float>(o, 14);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 1e-6F) << i;
  }
}

}  // namespace
}  // namespace sweep::test
