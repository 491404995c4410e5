// Gaussians of distances with their fade in one launch; the seed writes the Gaussians, reads them again and writes products.
// Bytes: 4 an element for 12. A block makes the fades of 256 pairs once, in shared memory, then writes its contiguous part of the
// result, four elements a store; beyond the cutoff it writes zeros without an exponential. Expected: 3 times the seed.
//@ problem level1/21
//@ const THREADS = 256, PAIRS = 256
//@ let pairs = batch*atoms*atoms
//@ if (terms % 4 == 0) expand<4><<<ceildiv(pairs, PAIRS), THREADS>>>(distance, center, basis, cutoff, sharpness, pairs, terms)
//@ else expand<1><<<ceildiv(pairs, PAIRS), THREADS>>>(distance, center, basis, cutoff, sharpness, pairs, terms)
#include <cmath>

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) expand(const float* distance, const float* center, float* basis, float cutoff,
                                                  float sharpness, long long pairs, int terms) {
  __shared__ float2 known[PAIRS];  // distance, fade
  __shared__ __align__(16) float centers[1024];
  const long long first = (long long)blockIdx.x*PAIRS;
  const int here = (int)min((long long)PAIRS, pairs - first);
  for (int k = threadIdx.x; k < terms; k += THREADS) centers[k] = center[k];
  for (int p = threadIdx.x; p < here; p += THREADS) {
    const float d = distance[first + p];
    known[p] = make_float2(d, d < cutoff ? 0.5f*(cospif(d / cutoff) + 1.0f) : 0.0f);
  }
  __syncthreads();
  const unsigned chunks = terms / WIDTH, count = here*chunks;
  float* to = basis + first*terms;
#pragma unroll 2
  for (unsigned e = threadIdx.x; e < count; e += THREADS) {
    const unsigned p = e / chunks, k = e % chunks*WIDTH;
    const float2 pair = known[p];
    float out[WIDTH] = {};
    if (pair.y != 0.0f) {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        const float off = pair.x - centers[k + i];
        out[i] = pair.y*expf(-sharpness*off*off);
      }
    }
    if constexpr (WIDTH == 4) reinterpret_cast<float4*>(to)[e] = make_float4(out[0], out[1], out[2], out[3]);
    else to[e] = out[0];
  }
}
