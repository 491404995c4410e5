//@ product<<<dim3(ceildiv(m, 16), ceildiv(m, 16)), dim3(16, 16)>>>(a, b, c, m)
#include <cuda_bf16.h>
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, int m) {
  __shared__ double x[16][17], y[16][17];
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  for (int l = 0; l < m; l += 16) {
    const int at = l + threadIdx.x, other = blockIdx.x * 16 + threadIdx.y;
    x[threadIdx.y][threadIdx.x] = i < m && at < m ? (double)__bfloat162float(a[(long long)i * m + at]) : 0;
    y[threadIdx.y][threadIdx.x] = other < m && at < m ? (double)__bfloat162float(b[(long long)other * m + at]) : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += x[threadIdx.y][k] * y[threadIdx.x][k];
    __syncthreads();
  }
  if (i < m && j < m) c[(long long)i * m + j] = sum;
}
