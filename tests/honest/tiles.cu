// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  __shared__ float sh[64];
  int r = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int b = 0; b < cols; b += 64) {
    for (int i = threadIdx.x; i < 64; i += 32) sh[i] = b + i < cols ? shift[b + i] : 0.f;
    __syncthreads();
    if (r < rows) for (int i = 0; i < 64 && b + i < cols; ++i) { float v = alpha * x[(size_t)r * cols + b + i] + sh[i]; y[(size_t)r * cols + b + i] = v; sum += v; }
    __syncthreads();
  }
  if (r < rows) total[r] = sum;
}
