// Weighted mean over ranks in one launch; the seed makes three and goes over y three times.
// Bytes an element: 4*(ranks + 1) for 4*(ranks + 3). More comes from eight ranks of four elements each that are on their way at once,
// where the seed waits for one rank after another. The four are one load where every rank begins at a multiple of 16 bytes, else four
// loads a block apart, so that a warp's are still contiguous. Expected: 3 times the seed.
//@ problem level1/23
//@ const THREADS = 256, MANY = 8
//@ let count = rows*cols
//@ if (count % 4 == 0) mean<4, 1><<<ceildiv(count, 4*THREADS), THREADS>>>(x, samples, y, ranks, count)
//@ else if (count > 4*THREADS) mean<4, THREADS><<<ceildiv(count, 4*THREADS), THREADS>>>(x, samples, y, ranks, count)
//@ else mean<1, 1><<<ceildiv(count, THREADS), THREADS>>>(x, samples, y, ranks, count)

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

// RANKS ranks from `from` on, all on their way before the first is needed.
template <int RANKS, int N, int APART>
__device__ void add(float (&sum)[N], int& all, const float* from, const int* samples, size_t count) {
  float v[RANKS][N];
  int weight[RANKS];
#pragma unroll
  for (int r = 0; r < RANKS; ++r) {
    weight[r] = samples[r];
    load<N, APART>(v[r], from + r*count);
  }
#pragma unroll
  for (int r = 0; r < RANKS; ++r) {
    all += weight[r];
#pragma unroll
    for (int e = 0; e < N; ++e) sum[e] += (float)weight[r]*v[r][e];
  }
}

template <int N, int APART>
__global__ void __launch_bounds__(THREADS) mean(const float* __restrict__ x, const int* __restrict__ samples, float* __restrict__ y,
                                                int ranks, size_t count) {
  size_t start = (size_t)blockIdx.x*(N*THREADS);
  if (APART > 1) start = min(start, count - N*THREADS);  // the last block makes some of its neighbour's again
  const size_t at = start + (APART == 1 ? N : 1)*threadIdx.x;
  if (at >= count) return;
  const float* from = x + at;
  float sum[N] = {};
  int all = 0, left = ranks;
  for (; left >= MANY; left -= MANY, from += MANY*count, samples += MANY) add<MANY, N, APART>(sum, all, from, samples, count);
  switch (left) {
    case 1: add<1, N, APART>(sum, all, from, samples, count); break;
    case 2: add<2, N, APART>(sum, all, from, samples, count); break;
    case 3: add<3, N, APART>(sum, all, from, samples, count); break;
    case 4: add<4, N, APART>(sum, all, from, samples, count); break;
    case 5: add<5, N, APART>(sum, all, from, samples, count); break;
    case 6: add<6, N, APART>(sum, all, from, samples, count); break;
    case 7: add<7, N, APART>(sum, all, from, samples, count); break;
  }
  if constexpr (N == 4 && APART == 1) {
    *reinterpret_cast<float4*>(y + at) = make_float4(sum[0] / (float)all, sum[1] / (float)all, sum[2] / (float)all, sum[3] / (float)all);
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e) y[at + e*APART] = sum[e] / (float)all;
  }
}
