// Softmax over the edges of each CSR row in one launch; the seed makes four.
// Bytes: the seed reads the scores twice and passes over alpha four times, 24 an edge. Here a row of up to 256 edges stays in the
// registers of its warp: 8 an edge, and only longer rows are read twice. Expected: 2.5 to 3 times the seed.
//@ problem level1/2
//@ const ROWS = 8, KEEP = 8
//@ softmax<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, score, alpha, rows)
#include <cmath>

__device__ float warp_max(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// At most 32*KEEP edges, each lane's in registers.
__device__ void short_row(const float* score, float* alpha, int count, int lane) {
  float v[KEEP], top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < KEEP; ++i) v[i] = lane + 32*i < count ? score[lane + 32*i] : -INFINITY;
#pragma unroll
  for (int i = 0; i < KEEP; ++i) top = fmaxf(top, v[i]);
  top = warp_max(top);
#pragma unroll
  for (int i = 0; i < KEEP; ++i) {
    v[i] = expf(v[i] - top);  // 0 where there is no edge
    sum += v[i];
  }
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < KEEP; ++i)
    if (lane + 32*i < count) alpha[lane + 32*i] = v[i]/sum;
}

// Each lane keeps a running maximum and the sum relative to it; a second pass writes.
__device__ void long_row(const float* __restrict__ score, float* __restrict__ alpha, int count, int lane) {
  float top = score[lane], sum = 0.0f;  // count > 32
  for (int e = lane; e < count; e += 32*KEEP) {
    float v[KEEP], high = top;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) v[i] = e + 32*i < count ? score[e + 32*i] : -INFINITY;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) high = fmaxf(high, v[i]);
    sum *= expf(top - high);
    top = high;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) sum += expf(v[i] - top);
  }
  const float all = warp_max(top);
  sum = warp_sum(sum*expf(top - all));
#pragma unroll 4
  for (int e = lane; e < count; e += 32) alpha[e] = expf(score[e] - all)/sum;
}

__global__ void __launch_bounds__(32*ROWS) softmax(const int* row_ptr, const float* score, float* alpha, int rows) {
  const int row = blockIdx.x*ROWS + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const int begin = row_ptr[row], count = row_ptr[row + 1] - begin;
  if (count == 0) return;
  if (count <= 32*KEEP) short_row(score + begin, alpha + begin, count, lane);
  else long_row(score + begin, alpha + begin, count, lane);
}
