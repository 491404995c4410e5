//@ root<<<ceildiv(n, 128), 128>>>(x, y, n)
#include <cmath>
__global__ void root(const float* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrt((double)x[i]);
}
