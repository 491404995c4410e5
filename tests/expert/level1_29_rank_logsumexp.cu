// Log of the sum of exponentials over ranks in one launch; the seed makes four and keeps every exponential in memory.
// Bytes an element: the seed 4*(2 ranks + 2) + 4*(2 ranks) + 16, here 4*(ranks + 1); at 8 ranks 152 against 36. Eight ranks at a time
// are loaded before the first is needed, four elements each. Expected: 4 times the seed.
//@ problem level1/29
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols
//@ if (count % 4 == 0) sums<float4><<<ceildiv(count / 4, THREADS), THREADS>>>(x, y, ranks, count / 4)
//@ else sums<float><<<ceildiv(count, THREADS), THREADS>>>(x, y, ranks, count)
#include <cmath>

template <typename V>
__global__ void __launch_bounds__(THREADS) sums(const V* x, V* y, int ranks, size_t count) {
  constexpr int WIDTH = sizeof(V) / sizeof(float);
  const size_t i = (size_t)blockIdx.x*THREADS + threadIdx.x;
  if (i >= count) return;
  union Pack {
    V vector;
    float each[WIDTH];
  };
  float top[WIDTH], sum[WIDTH];
#pragma unroll
  for (int e = 0; e < WIDTH; ++e) {
    top[e] = -INFINITY;
    sum[e] = 0.0f;
  }
  for (int first = 0; first < ranks; first += MANY) {
    Pack v[MANY];
#pragma unroll
    for (int r = 0; r < MANY; ++r) v[r].vector = x[(size_t)min(first + r, ranks - 1)*count + i];
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) {
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
  for (int e = 0; e < WIDTH; ++e) out.each[e] = top[e] + logf(sum[e]);
  y[i] = out.vector;
}
