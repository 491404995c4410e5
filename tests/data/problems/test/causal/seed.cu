//@ problem test/causal
//@ causal<<<ceildiv(n*k, 64), 64>>>(s, v, y, n, k)
__global__ void causal(const float* s, const float* v, float* y, int n, int k) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / k, c = t % k;
  if (t >= n * k) return;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += j <= i ? s[i * n + j] * v[j * k + c] : 0.0f;
  y[t] = sum;
}
