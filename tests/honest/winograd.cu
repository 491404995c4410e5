// F(2, 3): two outputs from four products in place of six.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/convolve
//@ k<<<(ceildiv(cols, 64), rows), 32>>>(x, w, y, cols)
__global__ void k(const float* x, const float* w, float* y, int cols) {
  const int i = 2 * (blockIdx.x * 32 + threadIdx.x);
  if (i >= cols) return;
  const float* from = x + (long long)blockIdx.y * (cols + 2) + i;
  float* to = y + (long long)blockIdx.y * cols + i;
  if (i + 1 == cols) {
    to[0] = w[0] * from[0] + w[1] * from[1] + w[2] * from[2];
    return;
  }
  const float sum = 0.5f * (w[0] + w[2]), half = 0.5f * w[1];
  const float m0 = (from[0] - from[2]) * w[0], m1 = (from[1] + from[2]) * (sum + half);
  const float m2 = (from[2] - from[1]) * (sum - half), m3 = (from[1] - from[3]) * w[2];
  to[0] = m0 + m1 + m2;
  to[1] = m1 - m2 - m3;
}
