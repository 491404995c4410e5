// Sixteen sums in each thread.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ k<<<(ceildiv(n, 32), ceildiv(m, 32)), (8, 8)>>>(a, b, c, m, n, k)
__global__ void __launch_bounds__(64) k(const float* a, const float* b, float* c, int m, int n, int k) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
  float s[4][4] = {};
  for (int l = 0; l < k; ++l) {
    float u[4], v[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      u[q] = i + 8 * q < m ? a[(i + 8 * q) * k + l] : 0.0f;
      v[q] = j + 8 * q < n ? b[l * n + j + 8 * q] : 0.0f;
    }
#pragma unroll
    for (int q = 0; q < 16; ++q) s[q / 4][q % 4] += u[q / 4] * v[q % 4];
  }
#pragma unroll
  for (int q = 0; q < 16; ++q)
    if (i + 8 * (q / 4) < m && j + 8 * (q % 4) < n) c[(i + 8 * (q / 4)) * n + j + 8 * (q % 4)] = s[q / 4][q % 4];
}
