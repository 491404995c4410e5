//@ problem test/exchange
//@ scratch f32 part[n]
//@ scale<<<ceildiv(n, 128), 128>>>(x, w, part, n)
//@ gather<<<ceildiv(n, 128), 128>>>(peers(part), peers(x), total, next, n, rank, ranks)
__global__ void scale(const float* x, const float* w, float* part, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) part[i] = x[i] * w[i];
}

__global__ void gather(const float* const* part, const float* const* x, float* total, float* next, int n, int rank,
                       int ranks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int q = 0; q < ranks; ++q) sum += part[q][i];
  total[i] = sum;
  next[i] = x[(rank + 1) % ranks][i];
}
