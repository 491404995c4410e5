// A warp for each segment, by shuffles.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/segments
//@ k<<<ceildiv(parts, 2), 64>>>(start, value, sum, most, parts)
#include <cmath>
__global__ void k(const int* start, const float* value, float* sum, float* most, int parts) {
  const int p = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (p >= parts) return;
  float s = 0, m = -INFINITY;
  for (int i = start[p] + lane; i < start[p + 1]; i += 32) s += value[i], m = fmaxf(m, value[i]);
  for (int d = 16; d > 0; d /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, d);
    m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  }
  if (lane == 0) sum[p] = s, most[p] = start[p] < start[p + 1] ? m : 0.0f;
}
