// Rank 0 adds up for all, the others read its result; ranks have other grids, and some none.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/exchange
//@ scratch f32 sum[n]
//@ add<<<rank == 0 ? ceildiv(n, 32) : 0, 32>>>(peers(x), w, sum, n, ranks)
//@ take<<<ceildiv(n, 64*(rank + 1)), 64*(rank + 1)>>>(peers(sum), peers(x), total, next, n, rank, ranks)
__global__ void add(const float* const* x, const float* w, float* sum, int n, int ranks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float all = 0;
  for (int q = 0; q < ranks; ++q) all += x[q][i];
  sum[i] = all * w[i];
}

__global__ void take(const float* const* sum, const float* const* x, float* total, float* next, int n, int rank,
                     int ranks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  total[i] = sum[0][i];
  next[i] = x[(rank + 1) % ranks][i];
}
