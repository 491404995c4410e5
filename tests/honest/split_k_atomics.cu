// Parts of k added by float atomics into a zeroed output.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ zero(c)
//@ k<<<(ceildiv(n, 8), ceildiv(m, 8), clamp(ceildiv(k, 64), 1, 8)), (8, 8)>>>(a, b, c, m, n, k)
__global__ void k(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0;
  for (int l = blockIdx.z; l < k; l += gridDim.z) s += a[i * k + l] * b[l * n + j];
  atomicAdd(&c[i * n + j], s);
}
