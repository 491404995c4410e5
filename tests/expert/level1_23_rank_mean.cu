// Weighted mean over ranks in one launch; the seed makes three and goes over y three times.
// Bytes an element: 4*(ranks + 1) for 4*(ranks + 3). More comes from eight ranks of four elements each that are on their way at once,
// where the seed waits for one rank after another. Expected: 3 times the seed.
//@ problem level1/23
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols
//@ if (count % 4 == 0) mean<float4><<<ceildiv(count / 4, THREADS), THREADS>>>(x, samples, y, ranks, count / 4)
//@ else mean<float><<<ceildiv(count, THREADS), THREADS>>>(x, samples, y, ranks, count)

template <typename V>
__global__ void __launch_bounds__(THREADS) mean(const V* x, const int* samples, V* y, int ranks, size_t count) {
  constexpr int WIDTH = sizeof(V) / sizeof(float);
  const size_t i = (size_t)blockIdx.x*THREADS + threadIdx.x;
  if (i >= count) return;
  union Pack {
    V vector;
    float each[WIDTH];
  };
  float sum[WIDTH] = {};
  int all = 0;
  for (int first = 0; first < ranks; first += MANY) {
    Pack v[MANY];
#pragma unroll
    for (int r = 0; r < MANY; ++r) v[r].vector = x[(size_t)min(first + r, ranks - 1)*count + i];
#pragma unroll
    for (int r = 0; r < MANY; ++r) {
      const int weight = first + r < ranks ? samples[first + r] : 0;
      all += weight;
#pragma unroll
      for (int e = 0; e < WIDTH; ++e) sum[e] += (float)weight*v[r].each[e];
    }
  }
  Pack out;
#pragma unroll
  for (int e = 0; e < WIDTH; ++e) out.each[e] = sum[e] / (float)all;
  y[i] = out.vector;
}
