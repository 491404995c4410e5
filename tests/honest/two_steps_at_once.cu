// Two steps of a stencil in one launch.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/heat
//@ scratch f32 other[n]
//@ let launches = ceildiv(steps, 2)
//@ let now = launches % 2 ? other : u, next = launches % 2 ? u : other
//@ copy(now, u0)
//@ for (i = 0; i < launches; ++i) {
//@   k<<<ceildiv(n, 64), 64>>>(now, next, alpha, n, min(steps - 2*i, 2))
//@   swap(now, next)
//@ }
__device__ float after_one(const float* u, int i, float alpha, int n) {
  return i > 0 && i < n - 1 ? u[i] + alpha * (u[i - 1] - 2 * u[i] + u[i + 1]) : u[i];
}
__global__ void k(const float* u, float* next, float alpha, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = after_one(u, i, alpha, n);
  if (steps == 2 && i > 0 && i < n - 1) v += alpha * (after_one(u, i - 1, alpha, n) - 2 * v + after_one(u, i + 1, alpha, n));
  next[i] = v;
}
