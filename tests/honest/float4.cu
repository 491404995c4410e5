// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ if (cols % 4 == 0) k4<<<rows, 64>>>(x, shift, y, total, cols, alpha); else k1<<<rows, 64>>>(x, shift, y, total, cols, alpha)
__device__ float fold(float s) {
  __shared__ float part[2];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  return part[0] + part[1];
}
__global__ void __launch_bounds__(64) k4(const float4* __restrict__ x, const float4* __restrict__ shift, float4* __restrict__ y, float* total, int cols, float alpha) {
  float s = 0;
  for (int c = threadIdx.x; c < cols / 4; c += blockDim.x) {
    float4 a = __ldg(&x[(size_t)blockIdx.x * (cols / 4) + c]), b = shift[c];
    float4 v = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    y[(size_t)blockIdx.x * (cols / 4) + c] = v;
    s += v.x + v.y + v.z + v.w;
  }
  s = fold(s);
  if (threadIdx.x == 0) total[blockIdx.x] = s;
}
__global__ void k1(const float* x, const float* shift, float* y, float* total, int cols, float alpha) {
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) { float v = fmaf(alpha, x[blockIdx.x * cols + c], shift[c]); y[blockIdx.x * cols + c] = v; s += v; }
  s = fold(s);
  if (threadIdx.x == 0) total[blockIdx.x] = s;
}
