// Persistent blocks that wait for each other in memory.
// expect stress: PASS_INCONCLUSIVE
// device: cuda
//@ problem test/heat
//@ let blocks = clamp(min(ceildiv(n, 128), sm_count), 1, 64)
//@ scratch u32 arrived[1]
//@ scratch f32 other[n]
//@ zero(arrived)
//@ k<<<blocks, 128>>>(u0, u, other, arrived, alpha, n, steps)
__device__ void meet(unsigned* arrived, unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*reinterpret_cast<volatile unsigned*>(arrived) < target) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
}
__global__ void k(const float* u0, float* u, float* other, unsigned* arrived, float alpha, int n, int steps) {
  float* now = steps % 2 ? other : u;
  float* next = steps % 2 ? u : other;
  const int first = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int i = first; i < n; i += all) now[i] = u0[i];
  for (int s = 0; s < steps; ++s) {
    meet(arrived, (s + 1) * gridDim.x);
    for (int i = first; i < n; i += all) {
      float v = __ldcg(now + i);
      if (i > 0 && i < n - 1) v += alpha * (__ldcg(now + i - 1) - 2 * __ldcg(now + i) + __ldcg(now + i + 1));
      next[i] = v;
    }
    float* t = now;
    now = next;
    next = t;
  }
}
