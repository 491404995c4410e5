// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<(rows + 31)/32, 32>>>(x, shift, offset(y, 0), total, rows, cols, alpha)
__global__ void k(const void* xv, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* x = static_cast<const float*>(xv);
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];
    sum += y[r * cols + c];
  }
  total[r] = sum;
}
