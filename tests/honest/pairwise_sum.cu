// Sums by halves, another order than the seed.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
__device__ float halves(const float* y, int count) {
  float part[13];
  int filled = 0;
  for (int i = 0; i < count; ++i) {
    float s = y[i];
    for (int bits = i; bits & 1; bits >>= 1) s += part[--filled];
    part[filled++] = s;
  }
  float s = 0;
  while (filled > 0) s += part[--filled];
  return s;
}
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < cols; ++c) y[r * cols + c] = alpha * x[r * cols + c] + shift[c];
  total[r] = halves(y + r * cols, cols);
}
