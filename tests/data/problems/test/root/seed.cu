//@ problem test/root
//@ root<<<ceildiv(n, 128), 128>>>(x, y, n)
#include <cmath>
__global__ void root(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrtf(x[i]);
}
