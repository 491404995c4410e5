// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ scratch f64 sum[rows]
//@ zero(sum)
//@ k<<<(ceildiv(cols, 16), ceildiv(rows, 8)), (16, 8)>>>(x, shift, y, sum, rows, cols, alpha)
//@ narrow<<<ceildiv(rows, 32), 32>>>(sum, total, rows)
__global__ void k(const float* x, const float* shift, float* y, double* sum, int rows, int cols, float alpha) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) { float v = alpha * x[r * cols + c] + shift[c]; y[r * cols + c] = v; atomicAdd(&sum[r], double(v)); }
}
__global__ void narrow(const double* sum, float* total, int rows) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r < rows) total[r] = float(sum[r]);
}
