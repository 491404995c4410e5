//@ problem test/best
//@ best<<<ceildiv(rows, 32), 32>>>(x, value, index, rows, cols)
__global__ void best(const float* x, float* value, int* index, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* from = x + (long long)r * cols;
  int at = 0;
  for (int c = 1; c < cols; ++c) at = from[c] > from[at] ? c : at;
  value[r] = from[at];
  index[r] = at;
}
