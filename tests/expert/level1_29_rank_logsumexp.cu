// Log of the sum of exponentials over ranks in one launch; the seed makes four and keeps every exponential in memory.
// Bytes an element: the seed 4*(2 ranks + 2) + 4*(2 ranks) + 16, here 4*(ranks + 1); at 8 ranks 152 against 36. Eight ranks at a time
// are loaded before the first is needed, four elements each: one load where every rank begins at a multiple of 16 bytes, else four
// loads a block apart. Expected: 4 times the seed.
//@ problem level1/29
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols, blocks = ceildiv(count, 4*THREADS)
//@ if (count % 4 == 0) sums<true><<<blocks, THREADS>>>(x, y, ranks, count)
//@ else sums<false><<<blocks, THREADS>>>(x, y, ranks, count)
#include <cmath>

// ALIGNED: a thread has four neighbours, else elements THREADS apart.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS) sums(const float* x, float* y, int ranks, size_t count) {
  constexpr int APART = ALIGNED ? 1 : THREADS;
  const size_t at = (size_t)blockIdx.x*(4*THREADS) + (ALIGNED ? 4 : 1)*threadIdx.x;
  if (at >= count) return;
  union Pack {
    float4 vector;
    float each[4];
  };
  float top[4], sum[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    top[e] = -INFINITY;
    sum[e] = 0.0f;
  }
  for (int first = 0; first < ranks; first += MANY) {
    Pack v[MANY];
#pragma unroll
    for (int r = 0; r < MANY; ++r) {
      v[r].vector = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      if (first + r >= ranks) continue;
      const float* from = x + (first + r)*count + at;
      if (ALIGNED) {
        v[r].vector = *reinterpret_cast<const float4*>(from);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) v[r].each[e] = at + e*APART < count ? from[e*APART] : 0.0f;
      }
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float high = top[e];
#pragma unroll
      for (int r = 0; r < MANY; ++r) high = fmaxf(high, v[r].each[e]);
      sum[e] *= expf(top[e] - high);  // 0 the first time
      top[e] = high;
#pragma unroll
      for (int r = 0; r < MANY; ++r)
        if (first + r < ranks) sum[e] += expf(v[r].each[e] - high);
    }
  }
  Pack out;
#pragma unroll
  for (int e = 0; e < 4; ++e) out.each[e] = top[e] + logf(sum[e]);
  if (ALIGNED) {
    *reinterpret_cast<float4*>(y + at) = out.vector;
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (at + e*APART < count) y[at + e*APART] = out.each[e];
  }
}
