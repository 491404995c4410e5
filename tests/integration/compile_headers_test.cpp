// Headers of the toolkit and of ours that kernels use, compiled by NVRTC for sm_90a, each with a
// kernel that calls what it offers.

#include "compile_fixture.h"

#include <gmock/gmock.h>

namespace sweep::test {
namespace {

struct Header {
  const char* what;
  const char* source;
};

void PrintTo(const Header& header, std::ostream* out) {
  *out << header.what;
}

const Header kHeaders[] = {
    {"everyday", R"(
#include <stdint.h>
#include <cmath>
#include <algorithm>
#include <limits>
#include <type_traits>
#include <cstdio>
#include <float.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cassert>
#include <math_constants.h>
__global__ void k(const float* a, float* o, const __grid_constant__ CUtensorMap m) {
  static_assert(std::is_same_v<int, int32_t> && sizeof m == 128);
  printf("%d", 1);
  assert(a);
  o[0] = std::min(std::sqrt(a[0]), std::numeric_limits<float>::max()) + std::max(1, 2) +
         CUDART_INF_F * FLT_MAX;
})"},
    {"library", R"(
#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <tuple>
#include <utility>
static_assert(std::popcount(0xF0u) == 4 && std::countl_zero(1u) == 31 &&
              std::countr_zero(8ull) == 3 && std::countr_zero(0u) == 32 &&
              std::countl_zero(static_cast<unsigned char>(1)) == 7 &&
              std::countl_one(0xF0000000u) == 4 && std::countr_one(7u) == 3 &&
              std::bit_width(9u) == 4 && std::bit_ceil(9u) == 16 && std::bit_floor(9u) == 8 &&
              std::has_single_bit(64u) && std::rotl(0x80000001u, 1) == 3 &&
              std::rotr(3u, 1) == 0x80000001u && std::bit_cast<unsigned>(1.0f) == 0x3f800000);
template <class F>
__device__ float call(F&& f, float v) {
  return std::forward<F>(f)(v, 1.0f);
}
__global__ void k(const float* a, float* o, int n) {
  std::array<float, 4> part{};
  constexpr std::array weights{1.0f, 2.0f, 3.0f};
  static_assert(weights.size() == 3 && std::get<2>(weights) == 3.0f);
  part.fill(a[0]);
  for (float& v : part) {
    v = std::plus<float>{}(v, weights[1]) + call(std::minus<>{}, std::move(v));
  }
  std::complex<float> z(a[1], std::numbers::pi_v<float>);
  z = z * std::conj(z) + std::polar(1.0f, a[2]) + std::exp(z);
  const auto pair = std::make_tuple(part[3], std::popcount(std::bit_cast<unsigned>(a[3])));
  const auto [x, y] = pair;
  float sum = x + static_cast<float>(y + std::countl_zero(static_cast<unsigned>(n)));
  for (const float v : std::span<const float>(a, n)) {
    sum += std::max(v, std::numeric_limits<float>::lowest());
  }
  o[0] = sum + std::get<0>(pair) + std::abs(z) + std::abs(a[4]) +
         static_cast<float>(std::sqrt(2.0 * std::numbers::pi));
}
__global__ void q(float* o) {
  using namespace std;
  array<float, 2> t{1, 2};
  o[0] = max(t[0], t[1]) + sqrt(o[1]) + abs(o[2]);
})"},
    // Those of the toolkit behind ours, and the other way round.
    {"mixed", R"(
#include <algorithm>
#include <climits>
#include <functional>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cuda/std/array>
#include <cuda/std/climits>
#include <mma.h>
#include <utility>
#include <bit>
#include <limits.h>
__global__ void k(const __half* a, float* o) {
  float v = __half2float(a[0]), w = INT_MAX;
  std::swap(v, w);
  o[0] = std::move(v) + cuda::std::array<float, 2>{1, 2}[1] + std::popcount(3u) + w;
})"},
    {"narrow_floats", R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
__global__ void k(const __nv_bfloat16* a, const __nv_fp8_e4m3* e, float* o) {
  const __half2 h = __floats2half2_rn(float(e[0]), 2);
  o[0] = float(a[0]) + __low2float(h) + float(__nv_fp8_e5m2(3.f));
})"},
    {"mma", R"(
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void k(const __half* a, float* o) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.f);
  wmma::load_matrix_sync(x, a, 16);
  wmma::load_matrix_sync(y, a, 16);
  wmma::mma_sync(c, x, y, c);
  wmma::store_matrix_sync(o, c, 16, wmma::mem_row_major);
})"},
    {"cub_block", R"(
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
__global__ void k(const float* a, float* o) {
  using Reduce = cub::BlockReduce<float, 128>;
  using Sort = cub::BlockRadixSort<float, 128, 4>;
  __shared__ typename Reduce::TempStorage r;
  __shared__ typename Sort::TempStorage s;
  float v[4] = {a[0], a[1], a[2], a[3]};
  Sort(s).Sort(v);
  const float sum = Reduce(r).Sum(a[threadIdx.x] + v[0]);
  if (threadIdx.x == 0) o[0] = sum;
})"},
    {"cub_all", R"(
#include <cub/cub.cuh>
__global__ void k(const float* a, float* o) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage r;
  const float sum = Reduce(r).Sum(a[threadIdx.x]);
  if (threadIdx.x == 0) o[0] = sum;
})"},
    {"cuda_std", R"(
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
__global__ void k(const float* a, float* o) {
  cuda::std::array<float, 4> x{1, 2, 3, 4};
  const cuda::std::complex<float> c(a[0], 1);
  o[0] = x[1] + cuda::std::numeric_limits<float>::max() + cuda::std::abs(c);
})"},
    {"cooperative_groups", R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(const float* a, float* o) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  __shared__ float s[128];
  cg::memcpy_async(block, s, a, sizeof s);
  cg::wait(block);
  o[0] = cg::reduce(warp, s[threadIdx.x], cg::plus<float>());
  cg::this_cluster().sync();
  cg::this_grid().sync();
})"},
    {"barrier_and_ptx", R"(
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void k(const float* a, float* o) {
  __shared__ alignas(128) float s[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(s, a, cuda::aligned_size_t<16>(sizeof s), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, 0);
  } else {
    token = bar.arrive();
  }
  bar.wait(cuda::std::move(token));
  cuda::atomic_ref<float, cuda::thread_scope_device>(o[0]).fetch_add(s[threadIdx.x]);
})"},
    {"pipeline", R"(
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
__global__ void k(const float* a, float* o) {
  const auto block = cooperative_groups::this_thread_block();
  __shared__ float s[128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, s, a, sizeof s, pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  o[threadIdx.x] = s[threadIdx.x];
  pipe.consumer_release();
})"},
    {"curand", R"(
#include <curand_kernel.h>
__global__ void k(const float* a, float* o) {
  curandStatePhilox4_32_10_t state;
  curand_init(1, threadIdx.x, 0, &state);
  o[0] = a[0] + curand_uniform(&state);
})"},
};

class CompileHeaders : public testing::TestWithParam<Header> {};

TEST_P(CompileHeaders, CompileUnderNvrtc) {
  if (const std::string why = missing(Way::nvrtc); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const compile::Result result = compile_by(Way::nvrtc, GetParam().source);
  EXPECT_EQ(result.status, compile::Result::Status::ok) << result.log;
}

INSTANTIATE_TEST_SUITE_P(All, CompileHeaders, testing::ValuesIn(kHeaders), [](const auto& header) {
  return std::string(header.param.what);
});

}  // namespace
}  // namespace sweep::test
