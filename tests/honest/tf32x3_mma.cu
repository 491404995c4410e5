// Three products in TF32 for one in fp32, added up in fp32.
// expect stress: PASS_INCONCLUSIVE
// device: cuda
//@ problem test/product
//@ k<<<(ceildiv(n, 8), ceildiv(m, 16)), 32>>>(a, b, c, m, n, k)
// One warp makes 16 x 8 of c by m16n8k8 tensor core products; factors beyond the edge are 0.
__device__ float at(const float* p, int row, int column, int rows, int columns) {
  return row < rows && column < columns ? p[row * columns + column] : 0.0f;
}
__device__ unsigned tf32(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void k(const float* a, const float* b, float* c, int m, int n, int k) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4, i = blockIdx.y * 16, j = blockIdx.x * 8;
  float d[4] = {};
  for (int l = 0; l < k; l += 8) {
    const float va[4] = {at(a, i + g, l + t, m, k), at(a, i + g + 8, l + t, m, k), at(a, i + g, l + t + 4, m, k), at(a, i + g + 8, l + t + 4, m, k)};
    const float vb[2] = {at(b, l + t, j + g, k, n), at(b, l + t + 4, j + g, k, n)};
    unsigned ha[4], hb[2];
    for (int q = 0; q < 4; ++q) ha[q] = tf32(va[q]);
    for (int q = 0; q < 2; ++q) hb[q] = tf32(vb[q]);
    unsigned la[4], lb[2];
    for (int q = 0; q < 4; ++q) la[q] = tf32(va[q] - __uint_as_float(ha[q]));
    for (int q = 0; q < 2; ++q) lb[q] = tf32(vb[q] - __uint_as_float(hb[q]));
    // The tensor core adds no more than these terms: it cuts its sums off where fp32 rounds them (Ootomo and
    // Yokota 2022, doi 10.1177/10943420221090256); exploits/tf32x3_inside.cu shows what comes of it.
    float part[4] = {};
    multiply(part, la, hb);
    multiply(part, ha, lb);
    multiply(part, ha, hb);
    for (int q = 0; q < 4; ++q) d[q] += part[q];
  }
  for (int q = 0; q < 4; ++q) {
    const int row = i + g + 8 * (q / 2), column = j + 2 * t + q % 2;
    if (row < m && column < n) c[row * n + column] = d[q];
  }
}
