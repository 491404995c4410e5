// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ let parts = clamp(ceildiv(cols, 64), 1, 8)
//@ scratch f32 part[rows, parts]
//@ scratch u32 done[rows]
//@ zero(done)
//@ k<<<(parts, rows), 64>>>(x, shift, y, total, part, done, cols, alpha)
__global__ void k(const float* x, const float* shift, float* y, float* total, float* part, unsigned* done, int cols, float alpha) {
  __shared__ double s; __shared__ bool last;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  const size_t o = (size_t)blockIdx.y * cols;
  float mine = 0;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < cols; c += 64 * gridDim.x) { float v = alpha * x[o + c] + shift[c]; y[o + c] = v; mine += v; }
  atomicAdd(&s, double(mine));
  __syncthreads();
  if (threadIdx.x == 0) { part[blockIdx.y * gridDim.x + blockIdx.x] = s; __threadfence(); last = atomicAdd(&done[blockIdx.y], 1u) == gridDim.x - 1; }
  __syncthreads();
  if (last && threadIdx.x == 0) { volatile float* p = part + blockIdx.y * gridDim.x; float t = 0; for (int i = 0; i < gridDim.x; ++i) t += p[i]; total[blockIdx.y] = t; }
}
