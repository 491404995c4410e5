// The two best experts of each token in one launch: scores stay in registers from the product to the choice; the seed makes four and
// keeps them in memory.
// Bytes: the seed writes and reads tokens*experts scores twice, 16 a score; here none. Work: a thread makes 8 x COLUMNS sums, so a
// 16-byte read of shared memory feeds 16 products for the seed's one or two, and the next tile is on its way meanwhile. Each lane keeps the
// two best of its experts, lanes of a token are merged by shuffles at the end. Expected: 2 to 3 times the seed.
//@ problem level2/8
//@ const THREADS = 128, TOKENS = 128, DEPTH = 16
//@ let blocks = ceildiv(tokens, TOKENS), even = align(experts, 64) - experts < 32
//@ if (experts <= 16) route<2><<<blocks, THREADS>>>(state, ground, logits, alpha, expert, weight, tokens, hidden, experts)
//@ else if (experts <= 32 || !even) route<4><<<blocks, THREADS>>>(state, ground, logits, alpha, expert, weight, tokens, hidden, experts)
//@ else route<8><<<blocks, THREADS>>>(state, ground, logits, alpha, expert, weight, tokens, hidden, experts)
#include <cmath>

// The two best so far, the better first: larger score, then smaller index.
struct Best {
  float score[2] = {-INFINITY, -INFINITY};
  int index[2] = {1 << 30, 1 << 30};
};

__device__ bool before(float u, int i, float v, int j) { return u > v || (u == v && i < j); }

__device__ void take(Best& best, float score, int index) {
  if (before(score, index, best.score[0], best.index[0])) {
    best.score[1] = best.score[0], best.index[1] = best.index[0];
    best.score[0] = score, best.index[0] = index;
  } else if (before(score, index, best.score[1], best.index[1])) {
    best.score[1] = score, best.index[1] = index;
  }
}

// ROWS x DEPTH of x[rows, width] from (row, first) on: what each thread keeps until the tile is free. Four lanes share a row, 16 bytes
// each, where width is a multiple of 4; else 16 lanes, one element each, so that few lines are touched at a time.
template <int ROWS>
struct Fetch {
  static constexpr int MANY = (ROWS + 31) / 32;
  float part[MANY][4];

  __device__ void load(const float* x, int row, int first, int rows, int width) {
    const bool four = width % 4 == 0;
    const int k = first + (four ? threadIdx.x % 4*4 : threadIdx.x % 16);
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      if (four) {
        const int r = threadIdx.x / 4 + i*32;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r < ROWS && row + r < rows && k < width) v = *reinterpret_cast<const float4*>(x + (size_t)(row + r)*width + k);
        part[i][0] = v.x, part[i][1] = v.y, part[i][2] = v.z, part[i][3] = v.w;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int r = threadIdx.x / 16 + i*32 + e*8;
          part[i][e] = r < ROWS && row + r < rows && k < width ? x[(size_t)(row + r)*width + k] : 0.0f;
        }
      }
    }
  }

  template <int STRIDE>
  __device__ void store(float (*tile)[STRIDE], int width) const {
#pragma unroll
    for (int i = 0; i < MANY; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const bool four = width % 4 == 0;
        const int r = (four ? threadIdx.x / 4 : threadIdx.x / 16 + e*8) + i*32;
        if (r < ROWS) tile[four ? threadIdx.x % 4*4 + e : threadIdx.x % 16][r] = part[i][e];
      }
  }
};

// Thread (tx, ty) of 8 x 16: tokens 8 ty .., experts COLUMNS tx .. of each tile of 8*COLUMNS.
template <int COLUMNS>
__global__ void __launch_bounds__(THREADS) route(const float* state, const float* ground, const float* logits, float alpha, int* expert,
                                                 float* weight, int tokens, int hidden, int experts) {
  constexpr int WIDE = 8*COLUMNS;
  __shared__ __align__(16) float a[DEPTH][TOKENS + 4], b[DEPTH][WIDE + 4];
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x*TOKENS;
  Best best[8];
  for (int column = 0; column < experts; column += WIDE) {
    float sum[8][COLUMNS] = {};
    Fetch<TOKENS> fa;
    Fetch<WIDE> fb;
    fa.load(state, row, 0, tokens, hidden);
    fb.load(ground, column, 0, experts, hidden);
    for (int first = 0; first < hidden; first += DEPTH) {
      __syncthreads();
      fa.store(a, hidden);
      fb.store(b, hidden);
      __syncthreads();
      if (first + DEPTH < hidden) {
        fa.load(state, row, first + DEPTH, tokens, hidden);
        fb.load(ground, column, first + DEPTH, experts, hidden);
      }
#pragma unroll 4
      for (int k = 0; k < DEPTH; ++k) {
        float u[8], v[COLUMNS];
        *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&a[k][8*ty]);
        *reinterpret_cast<float4*>(u + 4) = *reinterpret_cast<const float4*>(&a[k][8*ty + 4]);
#pragma unroll
        for (int c = 0; c < COLUMNS; c += 2) *reinterpret_cast<float2*>(v + c) = *reinterpret_cast<const float2*>(&b[k][COLUMNS*tx + c]);
#pragma unroll
        for (int r = 0; r < 8; ++r)
#pragma unroll
          for (int c = 0; c < COLUMNS; ++c) sum[r][c] += u[r]*v[c];
      }
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const int t = row + 8*ty + r, e = column + COLUMNS*tx + c;
        if (t < tokens && e < experts) take(best[r], logits[(size_t)t*experts + e] + alpha*sum[r][c], e);
      }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    for (int step = 4; step > 0; step /= 2) {
      const float u = __shfl_xor_sync(~0u, best[r].score[0], step), v = __shfl_xor_sync(~0u, best[r].score[1], step);
      const int i = __shfl_xor_sync(~0u, best[r].index[0], step), j = __shfl_xor_sync(~0u, best[r].index[1], step);
      take(best[r], u, i);
      take(best[r], v, j);
    }
    const int t = row + 8*ty + r;
    if (tx != 0 || t >= tokens) continue;
    const float ratio = expf(best[r].score[1] - best[r].score[0]);
    expert[(size_t)t*2] = best[r].index[0];
    expert[(size_t)t*2 + 1] = best[r].index[1];
    weight[(size_t)t*2] = 1.0f / (1.0f + ratio);
    weight[(size_t)t*2 + 1] = ratio / (1.0f + ratio);
  }
}
