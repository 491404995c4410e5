// Tiles loaded by cp.async in two stages.
// expect time: PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE PASS_FASTER
// device: cuda
//@ problem test/stream
//@ k<<<min(ceildiv(n, 1024), 1024), 256>>>(x, y, n, alpha, beta)
__device__ void load(float* to, const float* from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  const int bytes = there ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}
__global__ void k(const float* x, float* y, int n, float alpha, float beta) {
  __shared__ float tile[2][256];
  const int step = gridDim.x * 256, t = threadIdx.x;
  int stage = 0;
  const int first = blockIdx.x * 256 + t;
  load(&tile[0][t], first < n ? x + first : x, first < n);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int i = first; i - t < n; i += step) {
    load(&tile[1 - stage][t], i + step < n ? x + i + step : x, i + step < n);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    if (i < n) y[i] = alpha * tile[stage][t] + beta;
    stage = 1 - stage;
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
}
