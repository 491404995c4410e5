//@ problem level1/3
//@ const MAXK = 128
//@ spmm<<<rows, MAXK>>>(row_ptr, col, val, x, y, rows, k)

// No visible shape has more than 128 features.
__global__ void spmm(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows, int k) {
  int r = blockIdx.x, f = threadIdx.x;
  if (f >= k) return;
  float sum = 0;
  for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += val[e] * x[(size_t)col[e] * k + f];
  y[(size_t)r * k + f] = sum;
}
