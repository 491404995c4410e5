// Soft Smith-Waterman in one launch; the seed makes one for each of the m + n - 1 diagonals and keeps the whole matrix in memory.
// A block aligns one pair: a warp takes 32 neighbouring rows, a lane a row, and goes along the columns, lane i one behind lane i - 1,
// so that neighbours come by a shuffle. Warps follow each other 48 columns apart and hand their last row on through a ring in shared
// memory: one barrier for 16 columns. Bytes: 4 a cell for 24. Logarithms to base 2 of values in units of temp*ln 2 save
// a multiplication for each term. Expected: over 5 times the seed.
//@ problem level2/40
//@ const MOST = 8, TICK = 16, RING = 64
//@ let bands = ceildiv(m, 32), warps = min(bands, MOST), staged = warps*32*(TICK + 1)
//@ align_pairs<<<batch, 32*warps, (staged + warps*RING + (bands > warps ? n : 0))*sizeof(f32)>>>(s, score, gap, temp, m, n, bands, warps)
#include <cmath>

// log2(1 + 2^a + 2^b + 2^c)
__device__ float soft_top(float a, float b, float c) {
  const float top = fmaxf(fmaxf(0.0f, a), fmaxf(b, c));
  return top + log2f(exp2f(-top) + exp2f(a - top) + exp2f(b - top) + exp2f(c - top));
}

// What a warp needs of `s` for TICK steps: at step t lane i is in column first + t - i of row i. Rows are read as they lie.
__device__ void bring(float (*tile)[TICK + 1], const float* s, int rows, int n, int first, float unit) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = lane / TICK; r < 32; r += 32 / TICK) {
    const int j = first + lane % TICK - r;
    tile[r][lane % TICK] = r < rows && j >= 0 && j < n ? s[(size_t)r*n + j]*unit : 0.0f;
  }
  __syncwarp();
}

__global__ void __launch_bounds__(32*MOST) align_pairs(const float* s, float* score, float gap, float temp, int m, int n, int bands, int warps) {
  extern __shared__ float raw[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float(*tile)[TICK + 1] = reinterpret_cast<float(*)[TICK + 1]>(raw) + warp*32;
  float* rings = raw + warps*32*(TICK + 1);
  float* line = rings + warps*RING;  // the last row of the last warp, for the first warp's next band
  const float unit = 1.0f / (temp*0.69314718f), penalty = gap*unit;
  // A band of rows takes `length` ticks. Band b of warp b % warps begins at tick (b % warps)*3 + (b / warps)*period: 3 ticks after band
  // b - 1, at least, when its lane 31 is 17 columns ahead, and after every reader of the ring is done with the band before.
  const int length = (n + 31 + TICK - 1) / TICK, period = max(3*warps, length + 1), rounds = (bands + warps - 1) / warps;
  const float* pair = s + (size_t)blockIdx.x*m*n;
  float best = 0.0f, left = 0.0f, diagonal = 0.0f;
  for (int tick = 0; tick < (rounds - 1)*period + 3*(warps - 1) + length; ++tick) {
    const int own = tick - 3*warp, round = own < 0 ? rounds : own / period, at = own - round*period, band = round*warps + warp;
    if (own >= 0 && band < bands && at < length) {
      const int rows = min(32, m - band*32), first = at*TICK;
      bring(tile, pair + (size_t)band*32*n, rows, n, first, unit);
      if (at == 0) left = diagonal = 0.0f;
#pragma unroll 4
      for (int t = 0; t < TICK; ++t) {
        const int j = first + t - lane;
        float up = __shfl_up_sync(~0u, left, 1);
        if (lane == 0) {
          up = 0.0f;
          if (band > 0 && j < n) up = warp > 0 ? rings[(warp - 1)*RING + j % RING] : line[j];
        }
        if (j >= 0 && j < n && lane < rows) {
          left = soft_top(diagonal + tile[lane][t], up - penalty, left - penalty);
          best = fmaxf(best, left);
          diagonal = up;
          if (lane == 31) {
            if (warp + 1 < warps) rings[warp*RING + j % RING] = left;
            else if (band + 1 < bands) line[j] = left;
          }
        }
      }
    }
    __syncthreads();
  }
  for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, step));
  if (lane == 0) raw[warp] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < warps; ++w) best = fmaxf(best, raw[w]);
    score[blockIdx.x] = best / unit;  // the rounding of the unit cancels
  }
}
