//@ problem test/gemm_bf16_nn
//@ const TILE = 64, DEEP = 16
//@ tiles<<<(ceildiv(n, TILE), ceildiv(m, TILE)), 256>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
// A block makes 64 x 64 elements, a thread 4 x 4 of them.
__global__ void tiles(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
  __shared__ float x[DEEP][TILE + 1], y[DEEP][TILE + 1];
  const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int begin = 0; begin < k; begin += DEEP) {
    for (int i = threadIdx.x; i < TILE * DEEP; i += 256) {
      const int l = begin + i % DEEP, r = i / DEEP;
      const bool in = l < k;
      x[i % DEEP][r] = in && top + r < m ? __bfloat162float(a[(size_t)(top + r) * k + l]) : 0;
      y[i % DEEP][r] = in && left + r < n ? __bfloat162float(b[(size_t)l * n + left + r]) : 0;
    }
    __syncthreads();
    for (int l = 0; l < DEEP; ++l)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += x[l][row + i] * y[l][column + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (top + row + i < m && left + column + 16 * j < n) c[(size_t)(top + row + i) * n + left + column + 16 * j] = sum[i][j];
}
