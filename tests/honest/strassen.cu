// Seven products of quarters for eight, where the sizes are even and equal; else plain.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ if (m % 2 == 0 && n % 2 == 0 && k % 2 == 0) strassen<<<(ceildiv(n/2, 8), ceildiv(m/2, 8)), (8, 8)>>>(a, b, c, m, n, k); else plain<<<(ceildiv(n, 8), ceildiv(m, 8)), (8, 8)>>>(a, b, c, m, n, k)
__global__ void strassen(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, hm = m / 2, hn = n / 2, hk = k / 2;
  if (i >= hm || j >= hn) return;
  float p[7] = {};
  for (int l = 0; l < hk; ++l) {
    const float a11 = a[i * k + l], a12 = a[i * k + l + hk], a21 = a[(i + hm) * k + l], a22 = a[(i + hm) * k + l + hk];
    const float b11 = b[l * n + j], b12 = b[l * n + j + hn], b21 = b[(l + hk) * n + j], b22 = b[(l + hk) * n + j + hn];
    p[0] += (a11 + a22) * (b11 + b22);
    p[1] += (a21 + a22) * b11;
    p[2] += a11 * (b12 - b22);
    p[3] += a22 * (b21 - b11);
    p[4] += (a11 + a12) * b22;
    p[5] += (a21 - a11) * (b11 + b12);
    p[6] += (a12 - a22) * (b21 + b22);
  }
  c[i * n + j] = p[0] + p[3] - p[4] + p[6];
  c[i * n + j + hn] = p[2] + p[4];
  c[(i + hm) * n + j] = p[1] + p[3];
  c[(i + hm) * n + j + hn] = p[0] - p[1] + p[2] + p[5];
}
__global__ void plain(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0;
  for (int l = 0; l < k; ++l) s += a[i * k + l] * b[l * n + j];
  c[i * n + j] = s;
}
