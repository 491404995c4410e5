// Loads and stores that ask the caches to keep nothing.
// expect time: PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE PASS_FASTER
// device: cuda
//@ problem test/stream
//@ k<<<ceildiv(n, 1024), 256>>>(x, y, n, alpha, beta)
__global__ void k(const float* x, float* y, int n, float alpha, float beta) {
  const int i = 4 * (blockIdx.x * 256 + threadIdx.x);
  if (i + 4 <= n) {
    float4 v;
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + i));
    __stcs(reinterpret_cast<float4*>(y + i), make_float4(alpha * v.x + beta, alpha * v.y + beta, alpha * v.z + beta, alpha * v.w + beta));
  } else {
    for (int j = i; j < n; ++j) y[j] = alpha * x[j] + beta;
  }
}
