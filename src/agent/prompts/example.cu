//@ problem example/center
//@ const TILE = 128
//@ let tiles = ceildiv(rows, TILE)
//@ scratch f32 partial[tiles, cols]
//@ column_sums<64><<<(ceildiv(cols, 64), tiles), 64>>>(x, partial, rows, cols)
//@ if (tiles > 1) fold<<<ceildiv(cols, 256), 256>>>(partial, tiles, cols)
//@ if (cols % 4 == 0) subtract4<<<ceildiv(rows * cols / 4, 256), 256>>>(x, partial, y, rows, cols)
//@ else subtract<<<ceildiv(rows * cols, 256), 256>>>(x, partial, y, rows, cols)

template <int WIDTH>
__global__ void column_sums(const float* x, float* partial, int rows, int cols) {
  int col = blockIdx.x * WIDTH + threadIdx.x;
  if (col >= cols) return;
  int end = min(rows, (int)(blockIdx.y + 1) * TILE);  // TILE comes from the plan
  float sum = 0;
  for (int row = blockIdx.y * TILE; row < end; ++row) sum += x[(size_t)row * cols + col];
  partial[(size_t)blockIdx.y * cols + col] = sum;
}

__global__ void fold(float* partial, int tiles, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float sum = 0;
  for (int t = 0; t < tiles; ++t) sum += partial[(size_t)t * cols + col];
  partial[col] = sum;
}

__global__ void subtract(const float* x, const float* sums, float* y, int rows, int cols) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)rows * cols) y[i] = x[i] - sums[i % cols] / rows;
}

// Rows are multiples of 16 bytes: four elements at a time.
__global__ void subtract4(const float4* x, const float4* sums, float4* y, int rows, int cols) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * cols / 4) return;
  float4 v = x[i], s = sums[i % (cols / 4)];
  y[i] = make_float4(v.x - s.x / rows, v.y - s.y / rows, v.z - s.z / rows, v.w - s.w / rows);
}
