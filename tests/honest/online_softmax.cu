// One pass for the largest and the sum together.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/softmax
//@ k<<<ceildiv(rows, 32), 32>>>(x, y, rows, cols)
#include <cmath>
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -INFINITY, sum = 0;
  for (int c = 0; c < cols; ++c) {
    const float v = x[r * cols + c];
    if (v > top) sum *= expf(top - v), top = v;
    sum += expf(v - top);
  }
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - top) / sum;
}
