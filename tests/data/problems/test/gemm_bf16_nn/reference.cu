//@ dot<<<ceildiv(m*n, 128), 128>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
__global__ void dot(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, int m, int n, int k) {
  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)m * n) return;
  const __nv_bfloat16* x = a + at / n * k;
  const __nv_bfloat16* y = b + at % n;
  double sum = 0;
  for (int l = 0; l < k; ++l) sum += (double)__bfloat162float(x[l]) * __bfloat162float(y[(long long)l * n]);
  c[at] = sum;
}
