// The seed itself, timed.
// expect time: PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE PASS_FASTER
//@ problem test/affine
//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];
    sum += y[r * cols + c];
  }
  total[r] = sum;
}
