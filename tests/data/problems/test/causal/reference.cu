//@ causal<<<ceildiv(n*k, 64), 64>>>(s, v, y, n, k)
__global__ void causal(const float* s, const float* v, double* y, int n, int k) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / k, c = t % k;
  if (t >= n * k) return;
  double sum = 0;
  for (int j = 0; j <= i; ++j) sum += (double)s[i * n + j] * v[j * k + c];
  y[t] = sum;
}
