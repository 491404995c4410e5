// Parts of k by several blocks, added up afterwards.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/product
//@ let splits = clamp(ceildiv(k, 64), 1, 8)
//@ scratch f32 part[splits, m, n]
//@ k<<<(ceildiv(n, 8), ceildiv(m, 8), splits), (8, 8)>>>(a, b, part, m, n, k)
//@ add<<<ceildiv(m*n, 128), 128>>>(part, c, m*n, splits)
__global__ void k(const float* a, const float* b, float* part, int m, int n, int k) {
  int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  const int each = (k + gridDim.z - 1) / gridDim.z, first = blockIdx.z * each;
  float s = 0;
  for (int l = first; l < min(k, first + each); ++l) s += a[i * k + l] * b[l * n + j];
  part[(blockIdx.z * m + i) * n + j] = s;
}
__global__ void add(const float* part, float* c, int count, int splits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float s = 0;
  for (int q = 0; q < splits; ++q) s += part[(size_t)q * count + i];
  c[i] = s;
}
