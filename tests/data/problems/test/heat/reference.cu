//@ scratch f64 other[n]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other
//@ widen<<<ceildiv(n, 128), 128>>>(u0, now, n)
//@ for (i = 0; i < steps; ++i) {
//@   step<<<ceildiv(n, 128), 128>>>(now, next, alpha, n)
//@   swap(now, next)
//@ }
__global__ void widen(const float* u0, double* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) u[i] = u0[i];
}
__global__ void step(const double* u, double* next, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = u[i];
  if (i > 0 && i < n - 1) v += (double)alpha * (u[i - 1] - 2 * u[i] + u[i + 1]);
  next[i] = v;
}
