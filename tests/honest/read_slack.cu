// Loads whole vectors past the end of an input, where the slack is, and uses none of it.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/sine
//@ k<<<ceildiv(n, 256), 64>>>(x, y, n, scale)
#include <cmath>
__global__ void k(const float* x, float* y, int n, float scale) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  if (i >= n) return;
  const float4 v = *reinterpret_cast<const float4*>(x + i);
  const float all[4] = {v.x, v.y, v.z, v.w};
  for (int j = i; j < min(n, i + 4); ++j) y[j] = sinf(all[j - i] * scale);
}
