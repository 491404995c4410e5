// A linear layer over features gathered from ranks, on tensor cores to fp32 precision, in one launch.
// Bytes: the seed copies all features into one tensor first; here a tile finds its rank itself. Work: each factor is the sum of two tf32
// numbers, and three of the four products count, so an fp32 product costs three on tensor cores, which do over ten times as many. What
// they make of eight terms is added to the sums in fp32: a tensor core cuts off where fp32 rounds, so no long sum is left to it.
// Copies (cp.async) of 16 bytes run two stages ahead; where hidden is no multiple of 4, features and weights are first copied to rows
// that are: with copies of 4 bytes this kernel took 1.15 times the seed's time on an H200. Expected: 1.2 to 2 times the seed.
// The cpu device has no tensor cores: there a warp does the same products from the same fragments.
//@ problem level2/47
//@ const BM = 128, BN = 64, BK = 16, STAGES = 3, STEP = BK + 4
//@ let stages = (STAGES*(BM + BN)*STEP)*sizeof(f32)
//@ let padded = 4*ceildiv(joined, 4), copied = hidden % 4 == 0 ? 0 : 1
//@ scratch f32 features[copied*batch, padded], weights[copied*out, padded]
//@ if (copied == 0) linear<<<(ceildiv(batch, BM), ceildiv(out, BN)), 128, stages>>>(x, w, bias, y, batch, hidden, joined, out)
//@ else {
//@   pad<<<ceildiv(batch*padded, 256), 256>>>(x, features, batch, hidden, joined, padded)
//@   pad<<<ceildiv(out*padded, 256), 256>>>(w, weights, out, joined, joined, padded)
//@   linear<<<(ceildiv(batch, BM), ceildiv(out, BN)), 128, stages>>>(features, weights, bias, y, batch, padded, padded, out)
//@ }
#include <cstdint>

// Factors of one m16n8k8 product as the lanes hold them, N of each. high + low is the number, both tf32.
template <int N>
struct Factors {
  uint32_t high[N], low[N];
};

#ifdef __CUDA_ARCH__

__device__ uint32_t tf32(float v) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}

template <int N>
__device__ void split(Factors<N>& f, int i, float v) {
  f.high[i] = tf32(v);
  f.low[i] = tf32(v - __uint_as_float(f.high[i]));
}

__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply(float (&d)[4], const Factors<4>& a, const Factors<2>& b) {
  float part[4] = {};
  mma(part, a.low, b.high);
  mma(part, a.high, b.low);
  mma(part, a.high, b.high);
#pragma unroll
  for (int i = 0; i < 4; ++i) d[i] += part[i];
}

// Four floats from memory to shared memory, on their way until `arrived`; zeros where they do not count.
__device__ void copy(float* to, const float* from, bool counts) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address), "l"(from), "r"(counts ? 16 : 0) : "memory");
}

__device__ void end_of_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ void arrived() { asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory"); }

#else

template <int N>
__device__ void split(Factors<N>& f, int i, float v) {
  f.high[i] = __float_as_uint(v);
}

// Lane 4g + t holds a[g][t], a[g+8][t], a[g][t+4], a[g+8][t+4], b[t][g], b[t+4][g] and d[g][2t], d[g][2t+1], d[g+8][2t], d[g+8][2t+1].
__device__ void multiply(float (&d)[4], const Factors<4>& a, const Factors<2>& b) {
  __shared__ float left[4][16][8], right[4][8][8];
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 4; ++i) left[warp][g + i % 2*8][t + i / 2*4] = __uint_as_float(a.high[i]);
  for (int i = 0; i < 2; ++i) right[warp][t + i*4][g] = __uint_as_float(b.high[i]);
  __syncwarp();
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 8; ++k) d[i] += left[warp][g + i / 2*8][k]*right[warp][k][2*t + i % 2];
  __syncwarp();
}

__device__ void copy(float* to, const float* from, bool counts) {
  for (int i = 0; i < 4; ++i) to[i] = counts ? from[i] : 0.0f;
}

__device__ void end_of_stage() {}
__device__ void arrived() {}

#endif

// A warp's 64 x 32 sums over one stage. a, b: the tiles from the warp's first row and column on.
__device__ void multiply_stage(float (&d)[4][4][4], const float (*a)[STEP], const float (*b)[STEP]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 1
  for (int k = 0; k < BK; k += 8) {
    Factors<2> right[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) split(right[j], e, b[8*j + g][k + t + 4*e]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Factors<4> left;
#pragma unroll
      for (int e = 0; e < 4; ++e) split(left, e, a[16*i + g + e % 2*8][k + t + e / 2*4]);
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(d[i][j], left, right[j]);
    }
  }
}

// from[in / part][rows][part] as to[rows][padded], zeros behind.
__global__ void pad(const float* from, float* to, int rows, int part, int in, int padded) {
  const size_t i = (size_t)blockIdx.x*256 + threadIdx.x, row = i / padded;
  const int k = i % padded;
  if (row < rows) to[i] = k < in ? from[((size_t)(k / part)*rows + row)*part + k % part] : 0.0f;
}

// The block's tile of BM rows x BN outputs by 2 x 2 warps. hidden and joined are multiples of 4, so that a copy lies in one rank.
__global__ void __launch_bounds__(128, 3) linear(const float* x, const float* w, const float* bias, float* y, int batch, int hidden,
                                                 int joined, int out) {
  extern __shared__ __align__(16) float raw[];
  float(*tiles)[STEP] = reinterpret_cast<float(*)[STEP]>(raw);
  constexpr int ACROSS = BK / 4, ROWS = 128 / ACROSS;  // copies of a row, rows at a time
  const int top = blockIdx.x*BM, left = blockIdx.y*BN, steps = (joined + BK - 1) / BK;
  const int own = threadIdx.x / ACROSS, at = threadIdx.x % ACROSS*4;
  auto load = [&](int step) {
    const int k = step*BK + at;
    if (step < steps) {
      float(*to)[STEP] = tiles + step % STAGES*(BM + BN);
      const float* features = x + ((size_t)(k / hidden)*batch + top)*hidden + k % hidden;
      const float* weights = w + (size_t)left*joined + k;
#pragma unroll 4
      for (int r = own; r < BM; r += ROWS) {
        const bool inside = top + r < batch && k < joined;
        copy(&to[r][at], inside ? features + (size_t)r*hidden : x, inside);
      }
#pragma unroll 4
      for (int r = own; r < BN; r += ROWS) {
        const bool inside = left + r < out && k < joined;
        copy(&to[BM + r][at], inside ? weights + (size_t)r*joined : w, inside);
      }
    }
    end_of_stage();
  };
  const int warp = threadIdx.x / 32, row = warp / 2*64, column = warp % 2*32;
  float d[4][4][4] = {};
  for (int step = 0; step < STAGES - 1; ++step) load(step);
  for (int step = 0; step < steps; ++step) {
    arrived();
    __syncthreads();  // everybody's copies are there, and nobody reads the stage that is loaded next
    load(step + STAGES - 1);
    const float(*tile)[STEP] = tiles + step % STAGES*(BM + BN);
    multiply_stage(d, tile + row, tile + BM + column);
  }
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = top + row + 16*i + g + e / 2*8, o = left + column + 8*j + 2*t + e % 2;
        if (r < batch && o < out) y[(size_t)r*out + o] = d[i][j][e] + bias[o];
      }
}
