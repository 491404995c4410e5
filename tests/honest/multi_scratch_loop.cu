// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ const B = 64
//@ scratch f32 a[rows, cols], b[rows, cols]
//@ let p = a, q = b
//@ aff<B><<<ceildiv(rows*cols, B), B>>>(x, shift, y, p, rows*cols, cols, alpha)
//@ for (w = pow2ceil(cols)/2; w >= 1; w -= max(w - w/2, 1)) { fold<<<dim3(ceildiv(cols, 32), rows), dim3(32)>>>(p, q, cols, w); swap(p, q) }
//@ take<<<ceildiv(rows, 32), 32>>>(p, total, rows, cols)
template <int N> __global__ void aff(const float* __restrict__ x, const float* shift, float* y, float* p, int n, int cols, float alpha) {
  static_assert(N == B);
  int i = blockIdx.x * N + threadIdx.x;
  if (i < n) p[i] = y[i] = alpha * x[i] + shift[i % cols];
}
__global__ void fold(const float* p, float* q, int cols, int w) {
  int c = blockIdx.x * 32 + threadIdx.x; long o = (long)blockIdx.y * cols;
  if (c < cols) q[o + c] = p[o + c] + (c < w && c + w < cols ? p[o + c + w] : 0.f);
}
__global__ void take(const float* p, float* total, int rows, int cols) { int r = blockIdx.x * 32 + threadIdx.x; if (r < rows) total[r] = p[(long)r * cols]; }
