//@ problem test/heat
//@ scratch f32 other[n]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other
//@ copy(now, u0)
//@ for (i = 0; i < steps; ++i) {
//@   step<<<ceildiv(n, 128), 128>>>(now, next, alpha, n)
//@   swap(now, next)
//@ }
__global__ void step(const float* u, float* next, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = u[i];
  if (i > 0 && i < n - 1) v += alpha * (u[i - 1] - 2 * u[i] + u[i + 1]);
  next[i] = v;
}
