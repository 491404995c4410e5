// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ zero(total)
//@ k<<<dim3(sm_count, 2, 3), dim3(4, 4, 2)>>>(x, shift, y, total, rows, cols, alpha)
namespace detail { struct Row { int r; __device__ int at(int c, int cols) const { return r * cols + c; } }; }
__constant__ float one[2] = {1.0f, 0.0f};
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.y * gridDim.z;
  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  for (int r = block; r < rows; r += blocks) {
    detail::Row row{r};
    auto f = [=](int c) { return one[0] * alpha * x[row.at(c, cols)] + shift[c] + one[1]; };
    float s = 0;
    for (int c = t; c < cols; c += 32) { float v = f(c); y[row.at(c, cols)] = v; s += v; }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (t == 0) total[r] = s;
  }
}
