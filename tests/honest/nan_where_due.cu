// NaN where the reference has it, made in another way.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/root
//@ k<<<ceildiv(n, 128), 128>>>(x, y, n)
#include <cmath>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] < 0 ? NAN : x[i] > 0 ? x[i] / sqrtf(x[i]) : x[i];
}
