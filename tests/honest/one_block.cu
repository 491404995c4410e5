// A loop over the grid with a grid of one.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/momentum
//@ k<<<1, 96>>>(grad, weight, speed, moved, n, rate)
__global__ void k(const float* grad, float* weight, float* speed, float* moved, int n, float rate) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float s = fmaf(0.9f, speed[i], grad[i]);
    speed[i] = s;
    moved[i] = rate * s;
    weight[i] = fmaf(-rate, s, weight[i]);
  }
}
