//@ momentum<<<ceildiv(n, 128), 128>>>(grad, weight, speed, moved, n, rate)
__global__ void momentum(const float* grad, double* weight, double* speed, double* moved, int n, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double s = 0.9 * speed[i] + grad[i];
  speed[i] = s;
  moved[i] = rate * s;
  weight[i] -= rate * s;
}
