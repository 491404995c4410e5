// Triangle attention in four launches for fourteen: logits never leave the block.
// Bytes: the seed keeps heads*n*n*n logits and goes over them six times, 3.2 GB at `full`; here a block runs a softmax with a running
// maximum over tiles of them, adds the bias as it reads it and applies the gate as it writes. The normalization makes the bias on the way,
// in the order that is read later, and q, k, v and gate are one product whose next tile is on its way while one is multiplied.
// Work: the same products, on fp32 cores. Expected: 1.8 to 2.5 times the seed.
//@ problem level2/6
//@ const WARPS = 8, DEPTH = 16, TILE = 64, STEP = TILE + 4
//@ let pairs = batch*n*n, rows = ceildiv(pairs, 128), wide = ceildiv(channels, 64), tiles = ceildiv(n, TILE), blocks = batch*n*heads*tiles
//@ let fixed = TILE*STEP*sizeof(f32), each = (2*STEP + TILE)*sizeof(f32)
//@ scratch f32 x[pairs, channels], third[batch, heads, n, n], maps[4, pairs, channels], gated[pairs, channels]
//@ normalize<<<ceildiv(pairs, WARPS), 32*WARPS>>>(z, norm_gain, norm_bias, w_bias, x, third, pairs, channels, heads, n*n)
//@ linear<false><<<(rows, 4*wide), 128>>>(x, w_qkv, w_gate, 3, b_out, maps, pairs, channels, wide)
//@ if (hd <= 16) attend<16><<<blocks, 128, fixed + 16*each>>>(maps, third, mask, b_gate, gated, n, heads, hd, tiles, pairs)
//@ else if (hd <= 32) attend<32><<<blocks, 128, fixed + 32*each>>>(maps, third, mask, b_gate, gated, n, heads, hd, tiles, pairs)
//@ else if (hd <= 48) attend<48><<<blocks, 128, fixed + 48*each>>>(maps, third, mask, b_gate, gated, n, heads, hd, tiles, pairs)
//@ else attend<64><<<blocks, 128, fixed + 64*each>>>(maps, third, mask, b_gate, gated, n, heads, hd, tiles, pairs)
//@ linear<true><<<(rows, wide), 128>>>(gated, w_out, w_out, 1, b_out, y, pairs, channels, wide)
#include <cmath>

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// A warp for each vector: its normalization, and from that one number of the bias for each head, third[batch][head][edge].
__global__ void __launch_bounds__(32*WARPS) normalize(const float* z, const float* gain, const float* bias, const float* w_bias, float* x,
                                                      float* third, int pairs, int width, int heads, int edges) {
  const int row = blockIdx.x*WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= pairs) return;
  const float* from = z + (size_t)row*width;
  float* to = x + (size_t)row*width;
  float mean = 0.0f, square = 0.0f;
  for (int c = lane; c < width; c += 32) mean += from[c];
  mean = warp_sum(mean) / width;
  for (int c = lane; c < width; c += 32) square += (from[c] - mean)*(from[c] - mean);
  const float factor = 1.0f / sqrtf(warp_sum(square) / width + 1e-5f);
  for (int c = lane; c < width; c += 32) to[c] = (from[c] - mean)*factor*gain[c] + bias[c];
  for (int h = 0; h < heads; ++h) {
    float sum = 0.0f;
    for (int c = lane; c < width; c += 32) sum += w_bias[(size_t)h*width + c]*to[c];  // the lane's own
    sum = warp_sum(sum);
    if (lane == 0) third[((size_t)(row / edges)*heads + h)*edges + row % edges] = sum;
  }
}

// ROWS x DEPTH of x[rows, width] from (row, first) on: what each of 128 threads keeps until the tile is free. Four lanes share a row,
// 16 bytes each, where width is a multiple of 4; else 16 lanes, one element each, so that few lines are touched at a time.
template <int ROWS>
struct Fetch {
  float part[ROWS / 32][4];

  __device__ void load(const float* x, int row, int first, int rows, int width) {
    const bool four = width % 4 == 0;
    const int k = first + (four ? threadIdx.x % 4*4 : threadIdx.x % 16);
#pragma unroll
    for (int i = 0; i < ROWS / 32; ++i) {
      if (four) {
        const int r = row + threadIdx.x / 4 + i*32;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r < rows && k < width) v = *reinterpret_cast<const float4*>(x + (size_t)r*width + k);
        part[i][0] = v.x, part[i][1] = v.y, part[i][2] = v.z, part[i][3] = v.w;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int r = row + threadIdx.x / 16 + i*32 + e*8;
          part[i][e] = r < rows && k < width ? x[(size_t)r*width + k] : 0.0f;
        }
      }
    }
  }

  __device__ void store(float (*tile)[ROWS + 4], int width) const {
#pragma unroll
    for (int i = 0; i < ROWS / 32; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (width % 4 == 0) tile[threadIdx.x % 4*4 + e][threadIdx.x / 4 + i*32] = part[i][e];
        else tile[threadIdx.x % 16][threadIdx.x / 16 + i*32 + e*8] = part[i][e];
      }
  }
};

// y[m] = x w[m]^T (+ bias) for maps m of width x width: the first `split` lie in w, further ones in more. blockIdx.y: map and 64 outputs.
template <bool BIAS>
__global__ void __launch_bounds__(128, 3) linear(const float* x, const float* w, const float* more, int split, const float* bias,
                                                 float* y, int rows, int width, int wide) {
  __shared__ __align__(16) float a[DEPTH][128 + 4], b[DEPTH][64 + 4];
  const int map = blockIdx.y / wide, column = blockIdx.y % wide*64, row = blockIdx.x*128, tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  const float* weights = (map < split ? w : more) + (size_t)(map < split ? map : map - split)*width*width;
  float sum[8][8] = {};
  Fetch<128> fa;
  Fetch<64> fb;
  fa.load(x, row, 0, rows, width);
  fb.load(weights, column, 0, width, width);
  for (int first = 0; first < width; first += DEPTH) {
    __syncthreads();
    fa.store(a, width);
    fb.store(b, width);
    __syncthreads();
    if (first + DEPTH < width) {
      fa.load(x, row, first + DEPTH, rows, width);
      fb.load(weights, column, first + DEPTH, width, width);
    }
#pragma unroll 4
    for (int k = 0; k < DEPTH; ++k) {
      float u[8], v[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        *reinterpret_cast<float4*>(u + i) = *reinterpret_cast<const float4*>(&a[k][8*ty + i]);
        *reinterpret_cast<float4*>(v + i) = *reinterpret_cast<const float4*>(&b[k][4*tx + 8*i]);
      }
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c) sum[r][c] += u[r]*v[c];
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const int i = row + 8*ty + r, o = column + 4*tx + c / 4*32 + c % 4;
      if (i < rows && o < width) y[((size_t)map*rows + i)*width + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
    }
}

// TILE vectors of one head, hd of `width` numbers each: to[element][row], zeros beyond both ends.
template <int HD>
__device__ void bring(float (*to)[STEP], const float* x, int first, int n, int width, int hd) {
#pragma unroll 4
  for (int i = threadIdx.x; i < TILE*HD; i += 128) {
    const int r = i / HD, d = i % HD;
    to[d][r] = first + r < n && d < hd ? x[(size_t)(first + r)*width + d] : 0.0f;
  }
}

__device__ float over_16(float v, bool maximum) {
  for (int step = 8; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(~0u, v, step);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  return v;
}

// A block makes TILE edges j of one residue i and head. Thread (tx, ty) of 16 x 8: rows 8 ty .., columns 4 tx .. of the logits, elements
// HD/16 tx .. of the result.
template <int HD>
__global__ void __launch_bounds__(128, 3) attend(const float* maps, const float* third, const float* mask, const float* b_gate,
                                                 float* gated, int n, int heads, int hd, int tiles, int pairs) {
  constexpr int OWN = HD / 16;
  extern __shared__ __align__(16) float raw[];
  float(*p)[STEP] = reinterpret_cast<float(*)[STEP]>(raw);  // probabilities, [column][row]
  float(*a)[STEP] = p + TILE;
  float(*b)[STEP] = a + HD;
  float(*values)[HD] = reinterpret_cast<float(*)[HD]>(b + HD);
  const int width = heads*hd, row = blockIdx.x % tiles*TILE, h = blockIdx.x / tiles % heads, residue = blockIdx.x / tiles / heads;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const size_t map = (size_t)pairs*width, start = (size_t)residue*n*width + h*hd;
  const float* edge = third + ((size_t)(residue / n)*heads + h)*n*n;
  const float* keep = mask + (size_t)residue*n;
  const float factor = 1.0f / sqrtf((float)hd);
  float sum[8][OWN] = {}, total[8] = {}, top[8];
  for (int r = 0; r < 8; ++r) top[r] = -1e30f;  // below any logit, and finite: a tile may be masked as a whole
  bring<HD>(a, maps + start, row, n, width, hd);
  for (int column = 0; column < n; column += TILE) {
    __syncthreads();  // the last tile has been used
    bring<HD>(b, maps + map + start, column, n, width, hd);
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE*HD; i += 128) {
      const int m = i / HD, d = i % HD;
      values[m][d] = column + m < n && d < hd ? maps[2*map + start + (size_t)(column + m)*width + d] : 0.0f;
    }
    __syncthreads();
    float e[8][4] = {};
#pragma unroll 4
    for (int d = 0; d < HD; ++d) {
      float u[8], v[4];
      *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&a[d][8*ty]);
      *reinterpret_cast<float4*>(u + 4) = *reinterpret_cast<const float4*>(&a[d][8*ty + 4]);
      *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(&b[d][4*tx]);
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) e[r][c] += u[r]*v[c];
    }
    bool counts[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) counts[c] = column + 4*tx + c < n && keep[column + 4*tx + c] != 0.0f;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const int j = min(row + 8*ty + r, n - 1);
      float high = top[r];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        e[r][c] = counts[c] ? e[r][c]*factor + edge[(size_t)j*n + column + 4*tx + c] : -INFINITY;
        high = fmaxf(high, e[r][c]);
      }
      high = over_16(high, true);
      const float shrink = expf(top[r] - high);
      top[r] = high;
      total[r] *= shrink;
#pragma unroll
      for (int d = 0; d < OWN; ++d) sum[r][d] *= shrink;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        e[r][c] = expf(e[r][c] - high);
        total[r] += e[r][c];
      }
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      *reinterpret_cast<float4*>(&p[4*tx + c][8*ty]) = make_float4(e[0][c], e[1][c], e[2][c], e[3][c]);
      *reinterpret_cast<float4*>(&p[4*tx + c][8*ty + 4]) = make_float4(e[4][c], e[5][c], e[6][c], e[7][c]);
    }
    __syncthreads();
#pragma unroll 4
    for (int m = 0; m < TILE; ++m) {
      float u[8], v[OWN];
      *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&p[m][8*ty]);
      *reinterpret_cast<float4*>(u + 4) = *reinterpret_cast<const float4*>(&p[m][8*ty + 4]);
#pragma unroll
      for (int d = 0; d < OWN; ++d) v[d] = values[m][OWN*tx + d];
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int d = 0; d < OWN; ++d) sum[r][d] += u[r]*v[d];
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int j = row + 8*ty + r;
    const float rate = 1.0f / over_16(total[r], false);
#pragma unroll
    for (int d = 0; d < OWN; ++d) {
      const int at = OWN*tx + d;
      if (j >= n || at >= hd) continue;
      const size_t place = start + (size_t)j*width + at;
      gated[place] = sum[r][d]*rate / (1.0f + expf(-maps[3*map + place] - b_gate[h*hd + at]));
    }
  }
}
