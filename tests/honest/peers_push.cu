// Ranks store into scratch of their peers, which add it up in the next step.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/exchange
//@ scratch f32 from[ranks, n]
//@ push<<<(ceildiv(n, 64), ranks), 64>>>(x, peers(from), n, rank)
//@ add<<<ceildiv(n, 64), 64>>>(from, w, total, next, n, rank, ranks)
__global__ void push(const float* x, float* const* to, int n, int rank) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[blockIdx.y][rank * n + i] = x[i];
}

__global__ void add(const float* from, const float* w, float* total, float* next, int n, int rank, int ranks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int q = 0; q < ranks; ++q) sum += from[q * n + i];
  total[i] = sum * w[i];
  next[i] = from[(rank + 1) % ranks * n + i];
}
