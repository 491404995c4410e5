// The largest by an integer atomic on ordered bits, with its place in the low half.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/best
//@ scratch u64 top[rows]
//@ zero(top)
//@ k<<<(ceildiv(cols, 32), rows), 32>>>(x, top, cols)
//@ split<<<ceildiv(rows, 32), 32>>>(x, top, value, index, rows, cols)
__global__ void k(const float* x, unsigned long long* top, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  if (c >= cols) return;
  float v = x[blockIdx.y * cols + c];
  unsigned bits = __float_as_uint(v == 0 ? 0.0f : v);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  atomicMax(&top[blockIdx.y], (unsigned long long)bits << 32 | (0xffffffffu - c));
}
__global__ void split(const float* x, const unsigned long long* top, float* value, int* index, int rows, int cols) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  const int at = 0xffffffffu - (unsigned)top[r];
  index[r] = at;
  value[r] = x[r * cols + at];
}
