//@ stream<<<ceildiv(n, 256), 256>>>(x, y, n, alpha, beta)
__global__ void stream(const float* x, double* y, int n, float alpha, float beta) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = (double)alpha * x[i] + beta;
}
