//@ problem test/momentum
//@ momentum<<<ceildiv(n, 128), 128>>>(grad, weight, speed, moved, n, rate)
__global__ void momentum(const float* grad, float* weight, float* speed, float* moved, int n, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.9f * speed[i] + grad[i];
  speed[i] = s;
  moved[i] = rate * s;
  weight[i] -= rate * s;
}
