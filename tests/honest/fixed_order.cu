// Block sums in a fixed order, where equal bits are demanded.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/exact
//@ k<<<rows, 64>>>(x, total, cols)
__global__ void k(const float* x, float* total, int cols) {
  __shared__ float part[64];
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 64) s += x[(size_t)blockIdx.x * cols + c];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) total[blockIdx.x] = part[0];
}
