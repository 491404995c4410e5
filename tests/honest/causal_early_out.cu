// Stops at the diagonal: half of the bytes are never read.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/causal
//@ k<<<ceildiv(n*k, 64), 64>>>(s, v, y, n, k)
__global__ void k(const float* s, const float* v, float* y, int n, int k) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / k, c = t % k;
  if (t >= n * k) return;
  float sum = 0;
  for (int j = 0; j <= i; ++j) sum += s[i * n + j] * v[j * k + c];
  y[t] = sum;
}
