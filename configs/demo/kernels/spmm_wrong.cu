//@ problem level1/3
//@ spmm<<<ceildiv(rows * k, 256), 256>>>(row_ptr, col, val, x, y, rows, k)
__global__ void spmm(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows, int k) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)rows * k) return;
  int r = (int)(i / k), f = (int)(i % k);
  float sum = 0;
  for (int e = row_ptr[r]; e < row_ptr[r + 1] - 1; ++e) sum += val[e] * x[(size_t)col[e] * k + f];
  y[i] = sum;
}
