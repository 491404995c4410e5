// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
template <class F> __device__ __forceinline__ float apply(F f, float a) { return f(a); }
struct Aff { float a, b; __device__ float operator()(float v) const { return a * v + b; } };
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = apply(Aff{alpha, shift[c]}, x[r * cols + c]);
    sum += y[r * cols + c];
  }
  total[r] = sum;
}
