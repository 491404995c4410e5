// Asynchronous bulk stores, waited for.
// expect time: PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE PASS_FASTER
// device: cuda
//@ problem test/stream
//@ k<<<ceildiv(n, 256), 256>>>(x, y, n, alpha, beta)
__global__ void k(const float* x, float* y, int n, float alpha, float beta) {
  __shared__ alignas(128) float tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x, first = blockIdx.x * 256;
  if (i < n) tile[threadIdx.x] = alpha * x[i] + beta;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (first + 256 <= n) {
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(y + first),
                   "r"((unsigned)__cvta_generic_to_shared(tile))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
  } else if (i < n) {
    y[i] = tile[threadIdx.x];
  }
}
