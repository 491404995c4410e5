// Another kernel for large rows than for small ones.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/softmax
//@ if (cols <= 64) narrow<<<ceildiv(rows, 32), 32>>>(x, y, rows, cols); else wide<<<rows, 128>>>(x, y, cols)
#include <cmath>
__global__ void narrow(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = x[r * cols], sum = 0;
  for (int c = 1; c < cols; ++c) top = fmaxf(top, x[r * cols + c]);
  for (int c = 0; c < cols; ++c) sum += y[r * cols + c] = expf(x[r * cols + c] - top);
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= sum;
}
__device__ float fold(float v, bool largest) {
  __shared__ float part[4];
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, v, d);
    v = largest ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (int i = 1; i < 4; ++i) v = largest ? fmaxf(v, part[i]) : v + part[i];
  return v;
}
__global__ void wide(const float* x, float* y, int cols) {
  const float* from = x + (size_t)blockIdx.x * cols;
  float* to = y + (size_t)blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) top = fmaxf(top, from[c]);
  top = fold(top, true);
  for (int c = threadIdx.x; c < cols; c += 128) sum += expf(from[c] - top);
  sum = fold(sum, false);
  for (int c = threadIdx.x; c < cols; c += 128) to[c] = expf(from[c] - top) / sum;
}
