// Weighted mean over ranks in one launch; the seed makes three and goes over y three times.
// Bytes an element: 4*(ranks + 1) for 4*(ranks + 3). More comes from eight ranks of four elements each that are on their way at once,
// where the seed waits for one rank after another. The four are one load where every rank begins at a multiple of 16 bytes, else four
// loads a block apart, so that a warp's are still contiguous. Expected: 3 times the seed.
//@ problem level1/23
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols, blocks = ceildiv(count, 4*THREADS)
//@ if (count % 4 == 0) mean<true><<<blocks, THREADS>>>(x, samples, y, ranks, count)
//@ else mean<false><<<blocks, THREADS>>>(x, samples, y, ranks, count)

// ALIGNED: a thread has four neighbours, else elements THREADS apart.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS) mean(const float* x, const int* samples, float* y, int ranks, size_t count) {
  constexpr int APART = ALIGNED ? 1 : THREADS;
  const size_t at = (size_t)blockIdx.x*(4*THREADS) + (ALIGNED ? 4 : 1)*threadIdx.x;
  if (at >= count) return;
  union Pack {
    float4 vector;
    float each[4];
  };
  float sum[4] = {};
  int all = 0;
  for (int first = 0; first < ranks; first += MANY) {
    Pack v[MANY];
#pragma unroll
    for (int r = 0; r < MANY; ++r) {
      v[r].vector = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (first + r >= ranks) continue;
      const float* from = x + (first + r)*count + at;
      if (ALIGNED) {
        v[r].vector = *reinterpret_cast<const float4*>(from);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (at + e*APART < count) v[r].each[e] = from[e*APART];
      }
    }
#pragma unroll
    for (int r = 0; r < MANY; ++r) {
      const int weight = first + r < ranks ? samples[first + r] : 0;
      all += weight;
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += (float)weight*v[r].each[e];
    }
  }
  Pack out;
#pragma unroll
  for (int e = 0; e < 4; ++e) out.each[e] = sum[e] / (float)all;
  if (ALIGNED) {
    *reinterpret_cast<float4*>(y + at) = out.vector;
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (at + e*APART < count) y[at + e*APART] = out.each[e];
  }
}
