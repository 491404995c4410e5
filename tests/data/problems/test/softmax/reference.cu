//@ softmax<<<ceildiv(rows, 32), 32>>>(x, y, rows, cols)
#include <cmath>
__global__ void softmax(const float* x, double* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* from = x + (long long)r * cols;
  double* to = y + (long long)r * cols;
  double top = from[0], sum = 0;
  for (int c = 1; c < cols; ++c) top = from[c] > top ? from[c] : top;
  for (int c = 0; c < cols; ++c) sum += exp(from[c] - top);
  for (int c = 0; c < cols; ++c) to[c] = exp(from[c] - top) / sum;
}
