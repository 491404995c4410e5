//@ problem test/convolve
//@ convolve<<<(ceildiv(cols, 32), rows), 32>>>(x, w, y, cols)
__global__ void convolve(const float* x, const float* w, float* y, int cols) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= cols) return;
  const float* from = x + (long long)blockIdx.y * (cols + 2) + i;
  y[(long long)blockIdx.y * cols + i] = w[0] * from[0] + w[1] * from[1] + w[2] * from[2];
}
