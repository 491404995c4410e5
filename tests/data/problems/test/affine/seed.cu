//@ problem test/affine
//@ affine<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
__global__ void affine(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    long long i = (long long)r * cols + c;
    y[i] = alpha * x[i] + shift[c];
    sum += y[i];
  }
  total[r] = sum;
}
