// One Metropolis-Hastings step in one launch; the seed makes five and keeps proposals in memory.
// Bytes for each coordinate of a chain: the seed 12 (propose) + 8 (two energies) + 12 (choose) = 32; here a warp keeps a chain of up
// to 256 coordinates in registers from its two loads to its one store: 12. Warps go on to further chains with centres and reciprocal
// widths at hand. Expected: 2.5 to 3 times the seed.
//@ problem level2/9
//@ const WARPS = 8
//@ let blocks = min(ceildiv(chains, WARPS), 8*sm_count)
//@ if (dim <= 32) step_kept<1><<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)
//@ else if (dim <= 64) step_kept<2><<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)
//@ else if (dim <= 96) step_kept<3><<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)
//@ else if (dim <= 128) step_kept<4><<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)
//@ else if (dim <= 256) step_kept<8><<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)
//@ else step_long<<<blocks, 32*WARPS>>>(x, noise, u, center, width, x_next, accepted, step, chains, dim)

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

__device__ bool accept(float u, float before, float after) {
  return logf(fmaxf(u, 1e-10f)) < 0.5f*before - 0.5f*after;
}

template <int KEEP>
__global__ void __launch_bounds__(32*WARPS) step_kept(const float* x, const float* noise, const float* u, const float* center,
                                                      const float* width, float* x_next, bool* accepted, float step, int chains,
                                                      int dim) {
  const int lane = threadIdx.x % 32;
  float middle[KEEP], rate[KEEP];
#pragma unroll
  for (int k = 0; k < KEEP; ++k) {
    const int d = lane + 32*k;
    middle[k] = d < dim ? center[d] : 0.0f;
    rate[k] = d < dim ? 1.0f / width[d] : 0.0f;
  }
  for (int c = blockIdx.x*WARPS + threadIdx.x / 32; c < chains; c += gridDim.x*WARPS) {
    const size_t first = (size_t)c*dim;
    const float chance = u[c];
    float now[KEEP], then[KEEP], before = 0.0f, after = 0.0f;
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      const int d = lane + 32*k;
      now[k] = d < dim ? x[first + d] : 0.0f;
      then[k] = d < dim ? noise[first + d] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      then[k] = now[k] + step*then[k];
      const float s = (now[k] - middle[k])*rate[k], t = (then[k] - middle[k])*rate[k];
      before += s*s;
      after += t*t;
    }
    const bool yes = accept(chance, warp_sum(before), warp_sum(after));
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      const int d = lane + 32*k;
      if (d < dim) x_next[first + d] = yes ? then[k] : now[k];
    }
    if (lane == 0) accepted[c] = yes;
  }
}

// Any number of coordinates: they are read again, mostly from the cache, once the decision is known.
__global__ void __launch_bounds__(32*WARPS) step_long(const float* __restrict__ x, const float* __restrict__ noise, const float* u,
                                                      const float* center, const float* width, float* __restrict__ x_next,
                                                      bool* accepted, float step, int chains, int dim) {
  const int lane = threadIdx.x % 32;
  for (int c = blockIdx.x*WARPS + threadIdx.x / 32; c < chains; c += gridDim.x*WARPS) {
    const size_t first = (size_t)c*dim;
    float before = 0.0f, after = 0.0f;
#pragma unroll 4
    for (int d = lane; d < dim; d += 32) {
      const float now = x[first + d], then = now + step*noise[first + d];
      const float s = (now - center[d]) / width[d], t = (then - center[d]) / width[d];
      before += s*s;
      after += t*t;
    }
    const bool yes = accept(u[c], warp_sum(before), warp_sum(after));
#pragma unroll 4
    for (int d = lane; d < dim; d += 32) {
      const float now = x[first + d];
      x_next[first + d] = yes ? now + step*noise[first + d] : now;
    }
    if (lane == 0) accepted[c] = yes;
  }
}
