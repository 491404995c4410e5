//@ problem test/sine
//@ sine<<<ceildiv(n, 128), 128>>>(x, y, n, scale)
#include <cmath>
__global__ void sine(const float* x, float* y, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i] * scale);
}
