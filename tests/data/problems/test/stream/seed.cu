//@ problem test/stream
//@ stream<<<ceildiv(n, 256), 256>>>(x, y, n, alpha, beta)
__global__ void stream(const float* x, float* y, int n, float alpha, float beta) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + beta;
}
