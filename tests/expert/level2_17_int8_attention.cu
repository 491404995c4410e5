// Causal attention on int8 inputs in one launch: logits never leave the block.
// Bytes: the seed makes fp32 copies of q, k and v and moves 16*len*len for the logits and probabilities of each head, 2 GB at `full`; here
// only inputs and output move. Work: q*k is an exact sum of integers, four products an instruction (dp4a) for one, and tiles above the
// diagonal are left out of everything. Probabilities and their sums stay in fp32: a running maximum, rescaled when it grows.
// The longest rows start first. Expected: 3 times the seed.
//@ problem level2/17
//@ const TILE = 64, STEP = TILE + 4
//@ let tiles = ceildiv(len, TILE), around = batch*heads, base = (TILE*STEP)*sizeof(f32), each = (TILE + 2*STEP/4)*sizeof(f32)
//@ if (hd <= 32) attend<32><<<around*tiles, 256, base + 32*each>>>(q, k, v, q_scale, k_scale, v_scale, y, len, heads, hd, tiles)
//@ else if (hd <= 64) attend<64><<<around*tiles, 256, base + 64*each>>>(q, k, v, q_scale, k_scale, v_scale, y, len, heads, hd, tiles)
//@ else if (hd <= 96) attend<96><<<around*tiles, 256, base + 96*each>>>(q, k, v, q_scale, k_scale, v_scale, y, len, heads, hd, tiles)
//@ else if (hd <= 128) attend<128><<<around*tiles, 256, base + 128*each>>>(q, k, v, q_scale, k_scale, v_scale, y, len, heads, hd, tiles)
//@ else attend<256><<<around*tiles, 256, base + 256*each>>>(q, k, v, q_scale, k_scale, v_scale, y, len, heads, hd, tiles)
#include <cmath>

// Four elements of a vector of hd from d on, zeros beyond its end.
__device__ int word(const signed char* x, int d, int hd) {
  if (hd % 4 == 0) return d < hd ? *reinterpret_cast<const int*>(x + d) : 0;
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i)
    if (d + i < hd) bits |= (unsigned)(unsigned char)x[d + i] << 8*i;
  return (int)bits;
}

// Over the 16 lanes that share rows.
__device__ float half_warp_max(float v) {
  for (int step = 8; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

__device__ float half_warp_sum(float v) {
  for (int step = 8; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// TILE rows of one tensor, words of four elements: to[word][row].
template <int HD>
__device__ void bring(int (*to)[STEP], const signed char* x, int first, int len, size_t step, int hd) {
#pragma unroll 4
  for (int i = threadIdx.x; i < TILE*(HD / 4); i += 256) {
    const int r = i / (HD / 4), w = i % (HD / 4);
    to[w][r] = first + r < len ? word(x + (first + r)*step, 4*w, hd) : 0;
  }
}

// TILE rows of v as fp32: to[row][element].
template <int HD>
__device__ void bring_values(float (*to)[HD], const signed char* x, int first, int len, size_t step, int hd) {
#pragma unroll 4
  for (int i = threadIdx.x; i < TILE*(HD / 4); i += 256) {
    const int r = i / (HD / 4), w = i % (HD / 4), four = first + r < len ? word(x + (first + r)*step, 4*w, hd) : 0;
    *reinterpret_cast<float4*>(&to[r][4*w]) = make_float4((signed char)four, (signed char)(four >> 8), (signed char)(four >> 16), four >> 24);
  }
}

// A block makes TILE rows of one head. Thread (tx, ty) of 16 x 16 has rows 4 ty .. of the logits, in columns 4 tx .., and of y, in
// elements tx*2, tx*2 + 1 of every 32.
template <int HD>
__global__ void __launch_bounds__(256, HD <= 64 ? 3 : HD <= 128 ? 2 : 1) attend(const signed char* q, const signed char* k, const signed char* v, const float* q_scale,
                                              const float* k_scale, const float* v_scale, float* y, int len, int heads, int hd,
                                              int tiles) {
  extern __shared__ __align__(16) float raw[];
  float(*p)[STEP] = reinterpret_cast<float(*)[STEP]>(raw);                 // probabilities, [column][row]
  float(*values)[HD] = reinterpret_cast<float(*)[HD]>(raw + TILE*STEP);
  int(*a)[STEP] = reinterpret_cast<int(*)[STEP]>(raw + TILE*STEP + TILE*HD);
  int(*b)[STEP] = a + HD / 4;
  const int around = gridDim.x / tiles, which = blockIdx.x % around, row = (tiles - 1 - (int)blockIdx.x / around)*TILE;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, h = which % heads;
  const size_t step = (size_t)heads*hd, from = (size_t)(which / heads)*len*step + (size_t)h*hd;
  const float factor = q_scale[h]*k_scale[h] / sqrtf((float)hd);
  float sum[4][HD / 16] = {}, top[4], total[4] = {};
  for (int r = 0; r < 4; ++r) top[r] = -INFINITY;
  bring<HD>(a, q + from, row, len, step, hd);
  for (int column = 0; column <= row; column += TILE) {
    __syncthreads();  // the last tile's values and probabilities have been used
    bring<HD>(b, k + from, column, len, step, hd);
    bring_values<HD>(values, v + from, column, len, step, hd);
    __syncthreads();
    int dot[4][4] = {};
#pragma unroll 8
    for (int w = 0; w < HD / 4; ++w) {
      const int4 u = *reinterpret_cast<const int4*>(&a[w][4*ty]), o = *reinterpret_cast<const int4*>(&b[w][4*tx]);
      const int us[4] = {u.x, u.y, u.z, u.w}, os[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) dot[r][c] = __dp4a(us[r], os[c], dot[r][c]);
    }
    float e[4][4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      float high = top[r];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        e[r][c] = column + 4*tx + c <= row + 4*ty + r ? (float)dot[r][c]*factor : -INFINITY;
        high = fmaxf(high, e[r][c]);
      }
      high = half_warp_max(high);  // finite: column 0 comes first, and every row has it
      const float shrink = expf(top[r] - high);
      top[r] = high;
      total[r] *= shrink;
#pragma unroll
      for (int d = 0; d < HD / 16; ++d) sum[r][d] *= shrink;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        e[r][c] = expf(e[r][c] - high);
        total[r] += e[r][c];
      }
    }
#pragma unroll
    for (int c = 0; c < 4; ++c)
      *reinterpret_cast<float4*>(&p[4*tx + c][4*ty]) = make_float4(e[0][c], e[1][c], e[2][c], e[3][c]);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < TILE; ++j) {
      const float4 four = *reinterpret_cast<const float4*>(&p[j][4*ty]);
      const float ps[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int d = 0; d < HD / 32; ++d) {
        const float2 two = *reinterpret_cast<const float2*>(&values[j][32*d + 2*tx]);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          sum[r][2*d] += ps[r]*two.x;
          sum[r][2*d + 1] += ps[r]*two.y;
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int i = row + 4*ty + r;
    const float scale = v_scale[h] / half_warp_sum(total[r]);
    if (i >= len) continue;
#pragma unroll
    for (int d = 0; d < HD / 16; ++d) {
      const int at = d / 2*32 + 2*tx + d % 2;
      if (at < hd) y[from + i*step + at] = sum[r][d]*scale;
    }
  }
}
