// The second kernel may begin while the first still runs, and waits before it reads what that wrote.
// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: griddepcontrol.launch_dependents griddepcontrol.wait
//@ problem test/affine
//@ scale<<<ceildiv(rows*cols, 256), 256>>>(x, shift, y, rows*cols, cols, alpha)
//@ sums<<<ceildiv(rows, 8), 256, pdl>>>(y, total, rows, cols)

__global__ void scale(const float* x, const float* shift, float* y, int count, int cols, float alpha) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int i = blockIdx.x*256 + threadIdx.x;
  if (i < count) y[i] = alpha*x[i] + shift[i % cols];
}

__global__ void sums(const float* y, float* total, int rows, int cols) {
  const int row = blockIdx.x*8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (row >= rows) return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += y[static_cast<size_t>(row)*cols + c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) total[row] = sum;
}
