//@ sums<<<ceildiv(rows, 32), 32>>>(x, total, rows, cols)
__global__ void sums(const float* x, double* total, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double s = 0;
  for (int c = 0; c < cols; ++c) s += x[(long long)r * cols + c];
  total[r] = s;
}
