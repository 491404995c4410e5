//@ problem level1/3
//@ const V = 4, TX = 16, TY = 16
//@ spmm<<<(ceildiv(rows, TY), ceildiv(k, TX * V)), (TX, TY)>>>(row_ptr, col, val, x, y, rows, k)

// One thread makes V neighbouring features of one row: col and val are read once for all of them.
__global__ void spmm(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows, int k) {
  int r = blockIdx.x * TY + threadIdx.y;
  int f = (blockIdx.y * TX + threadIdx.x) * V;
  if (r >= rows || f >= k) return;
  int begin = row_ptr[r], end = row_ptr[r + 1];
  if (k % V == 0) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int e = begin; e < end; ++e) {
      float v = val[e];
      float4 a = *reinterpret_cast<const float4*>(x + (size_t)col[e] * k + f);
      sum.x += v * a.x;
      sum.y += v * a.y;
      sum.z += v * a.z;
      sum.w += v * a.w;
    }
    *reinterpret_cast<float4*>(y + (size_t)r * k + f) = sum;
    return;
  }
  float sum[V] = {};
  int width = min(V, k - f);
  for (int e = begin; e < end; ++e) {
    const float* a = x + (size_t)col[e] * k + f;
    for (int j = 0; j < width; ++j) sum[j] += val[e] * a[j];
  }
  for (int j = 0; j < width; ++j) y[(size_t)r * k + f + j] = sum[j];
}
