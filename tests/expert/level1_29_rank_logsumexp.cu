// Log of the sum of exponentials over ranks in one launch; the seed makes four and keeps every exponential in memory.
// Bytes an element: the seed 4*(2 ranks + 2) + 4*(2 ranks) + 16, here 4*(ranks + 1); at 8 ranks 152 against 36. Eight ranks at a time
// are loaded before the first is needed, four elements each: one load where every rank begins at a multiple of 16 bytes, else four
// loads a block apart. Expected: 4 times the seed.
//@ problem level1/29
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols
//@ if (count % 4 == 0) sums<4, 1><<<ceildiv(count, 4*THREADS), THREADS>>>(x, y, ranks, count)
//@ else if (count > 4*THREADS) sums<4, THREADS><<<ceildiv(count, 4*THREADS), THREADS>>>(x, y, ranks, count)
//@ else sums<1, 1><<<ceildiv(count, THREADS), THREADS>>>(x, y, ranks, count)
#include <cmath>

// N elements APART from each other.
template <int N, int APART>
__device__ void load(float (&v)[N], const float* from) {
  if constexpr (N == 4 && APART == 1) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e) v[e] = from[e*APART];
  }
}

// RANKS ranks from `from` on, all on their way before the first is needed. sum: of exponentials relative to top.
template <int RANKS, int N, int APART>
__device__ void add(float (&top)[N], float (&sum)[N], const float* from, size_t count) {
  float v[RANKS][N];
#pragma unroll
  for (int r = 0; r < RANKS; ++r) load<N, APART>(v[r], from + r*count);
#pragma unroll
  for (int e = 0; e < N; ++e) {
    float high = top[e];
#pragma unroll
    for (int r = 0; r < RANKS; ++r) high = fmaxf(high, v[r][e]);
    sum[e] *= expf(top[e] - high);  // 0 the first time
    top[e] = high;
#pragma unroll
    for (int r = 0; r < RANKS; ++r) sum[e] += expf(v[r][e] - high);
  }
}

template <int N, int APART>
__global__ void __launch_bounds__(THREADS) sums(const float* __restrict__ x, float* __restrict__ y, int ranks, size_t count) {
  size_t start = (size_t)blockIdx.x*(N*THREADS);
  if (APART > 1) start = min(start, count - N*THREADS);  // the last block makes some of its neighbour's again
  const size_t at = start + (APART == 1 ? N : 1)*threadIdx.x;
  if (at >= count) return;
  const float* from = x + at;
  float top[N], sum[N];
#pragma unroll
  for (int e = 0; e < N; ++e) {
    top[e] = -INFINITY;
    sum[e] = 0.0f;
  }
  int left = ranks;
  for (; left >= MANY; left -= MANY, from += MANY*count) add<MANY, N, APART>(top, sum, from, count);
  switch (left) {
    case 1: add<1, N, APART>(top, sum, from, count); break;
    case 2: add<2, N, APART>(top, sum, from, count); break;
    case 3: add<3, N, APART>(top, sum, from, count); break;
    case 4: add<4, N, APART>(top, sum, from, count); break;
    case 5: add<5, N, APART>(top, sum, from, count); break;
    case 6: add<6, N, APART>(top, sum, from, count); break;
    case 7: add<7, N, APART>(top, sum, from, count); break;
  }
  if constexpr (N == 4 && APART == 1) {
    *reinterpret_cast<float4*>(y + at) =
        make_float4(top[0] + logf(sum[0]), top[1] + logf(sum[1]), top[2] + logf(sum[2]), top[3] + logf(sum[3]));
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e) y[at + e*APART] = top[e] + logf(sum[e]);
  }
}
