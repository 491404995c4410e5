// Seven products of quarters for eight, where the sizes are even; else plain.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ scratch f32 factor[m]
//@ if (m % 2 == 0 && n % 2 == 0 && k % 2 == 0) {
//@   factors<<<ceildiv(m, 32), 32>>>(a, factor, m, k)
//@   strassen<<<(ceildiv(n/2, 8), ceildiv(m/2, 8)), (8, 8)>>>(a, b, factor, c, m, n, k)
//@ } else plain<<<(ceildiv(n, 8), ceildiv(m, 8)), (8, 8)>>>(a, b, c, m, n, k)
#include <cmath>
// Powers of two that give every row of a about the same size. Strassen's error is that of the whole product: without
// them a row of large numbers spoils the row that it is added to, whose own error is asked for (Higham 2002, 23.2.2).
__global__ void factors(const float* a, float* factor, int m, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float square = 0;
  for (int l = 0; l < k; ++l) square += a[i * k + l] * a[i * k + l];
  int exponent = 0;
  if (square > 0) frexpf(sqrtf(square / k), &exponent);
  factor[i] = ldexpf(1.0f, -exponent);
}
__global__ void strassen(const float* a, const float* b, const float* factor, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, hm = m / 2, hn = n / 2, hk = k / 2;
  if (i >= hm || j >= hn) return;
  const float upper = factor[i], lower = factor[i + hm];
  float p[7] = {};
  for (int l = 0; l < hk; ++l) {
    const float a11 = upper * a[i * k + l], a12 = upper * a[i * k + l + hk], a21 = lower * a[(i + hm) * k + l], a22 = lower * a[(i + hm) * k + l + hk];
    const float b11 = b[l * n + j], b12 = b[l * n + j + hn], b21 = b[(l + hk) * n + j], b22 = b[(l + hk) * n + j + hn];
    p[0] += (a11 + a22) * (b11 + b22);
    p[1] += (a21 + a22) * b11;
    p[2] += a11 * (b12 - b22);
    p[3] += a22 * (b21 - b11);
    p[4] += (a11 + a12) * b22;
    p[5] += (a21 - a11) * (b11 + b12);
    p[6] += (a12 - a22) * (b21 + b22);
  }
  c[i * n + j] = (p[0] + p[3] - p[4] + p[6]) / upper;
  c[i * n + j + hn] = (p[2] + p[4]) / upper;
  c[(i + hm) * n + j] = (p[1] + p[3]) / lower;
  c[(i + hm) * n + j + hn] = (p[0] - p[1] + p[2] + p[5]) / lower;
}
__global__ void plain(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0;
  for (int l = 0; l < k; ++l) s += a[i * k + l] * b[l * n + j];
  c[i * n + j] = s;
}
