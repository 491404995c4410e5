//@ product<<<(ceildiv(n, 16), ceildiv(m, 16)), (16, 16)>>>(a, b, c, m, n, k)
__global__ void product(const float* a, const float* b, double* c, int m, int n, int k) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  double s = 0;
  for (int l = 0; l < k; ++l) s += (double)a[i * k + l] * b[l * n + j];
  c[i * n + j] = s;
}
