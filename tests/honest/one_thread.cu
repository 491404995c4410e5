// As slow as can be: one thread does everything.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<1, 1>>>(x, shift, y, total, rows, cols, alpha)
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = alpha * x[r * cols + c] + shift[c];
      sum += y[r * cols + c];
    }
    total[r] = sum;
  }
}
