//@ problem ptx/gemm
//@ gemm<<<ceildiv(m*n, 256), 256>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
__global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / n, j = at % n;
  if (i >= m) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += __bfloat162float(a[i*k + l]) * __bfloat162float(b[j*k + l]);
  c[at] = __float2bfloat16(total);
}
