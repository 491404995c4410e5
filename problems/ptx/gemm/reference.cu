//@ problem ptx/gemm
//@ scratch f64 bt[k, n]
//@ turn<<<ceildiv(n*k, 128), 128>>>(b, bt, n, k)
//@ dot<<<ceildiv(m*n, 128), 128>>>(a, bt, c, m, n, k)
#include <cuda_bf16.h>

// bt[l, j] = b[j, l]: neighbouring threads of dot then read neighbouring numbers.
__global__ void turn(const __nv_bfloat16* b, double* bt, int n, int k) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (long long)n * k) bt[at] = __bfloat162float(b[at % n * k + at / n]);
}

__global__ void dot(const __nv_bfloat16* a, const double* bt, double* c, int m, int n, int k) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)m * n) return;
    long long i = at / n, j = at % n;
    double sum = 0;
    for (long long l = 0; l < k; ++l) sum += (double)__bfloat162float(a[i * k + l]) * bt[l * n + j];
    c[at] = sum;
}
