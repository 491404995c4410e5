// Most of the shared memory of a multiprocessor.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/causal
//@ k<<<n, 64, 98304>>>(s, v, y, n, k)
extern __shared__ float room[];
__global__ void k(const float* s, const float* v, float* y, int n, int k) {
  const int i = blockIdx.x;
  for (int j = threadIdx.x; j <= i; j += blockDim.x) room[20000 + j] = s[i * n + j];
  __syncthreads();
  for (int c = threadIdx.x; c < k; c += blockDim.x) {
    float sum = 0;
    for (int j = 0; j <= i; ++j) sum += room[20000 + j] * v[j * k + c];
    y[i * k + c] = sum;
  }
}
