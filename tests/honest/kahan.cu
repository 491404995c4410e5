// More exact than the seed: compensated sums.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ k<<<(ceildiv(n, 8), ceildiv(m, 8)), (8, 8)>>>(a, b, c, m, n, k)
__global__ void k(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0, lost = 0;
  for (int l = 0; l < k; ++l) {
    float p = a[i * k + l] * b[l * n + j] - lost, t = s + p;
    lost = (t - s) - p;
    s = t;
  }
  c[i * n + j] = s;
}
