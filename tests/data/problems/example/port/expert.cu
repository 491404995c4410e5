//@ problem example/port
//@ center<<<ceildiv(cols, 32), 32>>>(x, y, rows, cols)
__global__ void center(const float* x, float* y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += x[(size_t)row * cols + col];
  for (int row = 0; row < rows; ++row) y[(size_t)row * cols + col] = x[(size_t)row * cols + col] - sum / rows;
}
