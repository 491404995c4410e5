// Vectors of four in place, the rest one by one.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/momentum
//@ k<<<ceildiv(n, 256), 64>>>(grad, weight, speed, moved, n, rate)
__device__ void one(float g, float& w, float& s, float& m, float rate) {
  s = 0.9f * s + g;
  m = rate * s;
  w -= m;
}
__global__ void k(const float* grad, float* weight, float* speed, float* moved, int n, float rate) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  if (i + 4 <= n) {
    const float4 g = *reinterpret_cast<const float4*>(grad + i);
    float4 w = *reinterpret_cast<float4*>(weight + i), s = *reinterpret_cast<float4*>(speed + i), m;
    one(g.x, w.x, s.x, m.x, rate), one(g.y, w.y, s.y, m.y, rate), one(g.z, w.z, s.z, m.z, rate), one(g.w, w.w, s.w, m.w, rate);
    *reinterpret_cast<float4*>(weight + i) = w;
    *reinterpret_cast<float4*>(speed + i) = s;
    *reinterpret_cast<float4*>(moved + i) = m;
  } else {
    for (int j = i; j < n; ++j) one(grad[j], weight[j], speed[j], moved[j], rate);
  }
}
