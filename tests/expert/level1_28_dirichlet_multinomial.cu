// Dirichlet-multinomial log-likelihoods in one launch; the seed makes six, reads the counts twice and keeps every term in memory.
// Bytes: 4 for each count instead of 16. Work: lgamma(n + a) - lgamma(a) is the logarithm of a (a + 1) .. (a + n - 1). A block makes
// these logarithms for n below COUNTS and all categories once, in shared memory, and looks them up; larger counts take the two
// lgamma. That is one read of shared memory for some 100 instructions, and more exact, as nothing large is subtracted.
// Expected: 3 to 5 times the seed.
//@ problem level1/28
//@ const THREADS = 256, WARPS = THREADS / 32, COUNTS = 16, ROWS = 16, MOST = 1024, AHEAD = 8
//@ let stride = align(categories, 32), blocks = min(ceildiv(rows, ROWS*WARPS), 4*sm_count)
//@ if (categories <= MOST) likelihood<true><<<blocks, THREADS, (COUNTS + 1)*stride*sizeof(f32)>>>(count, log_alpha, y, rows, categories, stride)
//@ else likelihood<false><<<min(ceildiv(rows, WARPS), 4*sm_count), THREADS>>>(count, log_alpha, y, rows, categories, stride)
#include <cmath>

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// log of a (a + 1) .. (a + n - 1) for n = 0 .. COUNTS-1, `stride` apart. Products stay in the range of fp32.
__device__ void rising(float a, float* to, int stride) {
  float done = 0.0f, product = 1.0f;
  for (int n = 0; n < COUNTS; ++n) {
    to[n*stride] = done + logf(product);
    product *= a + n;
    if (product > 1e25f) {
      done += logf(product);
      product = 1.0f;
    }
  }
}

// The sum of all alpha, the same in every block and thread.
__device__ float whole(const float* log_alpha, int categories) {
  __shared__ float part[WARPS];
  float sum = 0.0f;
  for (int k = threadIdx.x; k < categories; k += THREADS) sum += expf(log_alpha[k]);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < WARPS; ++w) sum += part[w];
  return sum;
}

// Of the counts that are in no table, AHEAD of a lane from category `start` on.
template <bool TABLE>
__device__ __noinline__ float large_terms(const int* from, const float* log_alpha, const float* alpha, int start, int categories) {
  float sum = 0.0f;
#pragma unroll 1
  for (int k = start; k < min(categories, start + 32*AHEAD); k += 32) {
    const int n = from[k];
    if (n < (TABLE ? COUNTS : 1)) continue;
    const float a = TABLE ? alpha[k] : expf(log_alpha[k]);
    sum += n == 1 ? logf(a) : lgammaf(n + a) - lgammaf(a);
  }
  return sum;
}

// TABLE: shared memory holds COUNTS rows of logarithms, then alpha. A warp takes a few rows at a time, so that the lgamma at the end
// are one for each lane.
template <bool TABLE>
__global__ void __launch_bounds__(THREADS) likelihood(const int* count, const float* log_alpha, float* y, int rows, int categories,
                                                      int stride) {
  extern __shared__ float table[];
  constexpr int MANY = TABLE ? ROWS : 1;
  const int lane = threadIdx.x % 32, warp = blockIdx.x*WARPS + threadIdx.x / 32;
  if (TABLE) {
    for (int k = threadIdx.x; k < categories; k += THREADS) {
      const float a = expf(log_alpha[k]);
      table[COUNTS*stride + k] = a;
      rising(a, table + k, stride);
    }
  }
  const float all = whole(log_alpha, categories);  // waits for the table as well
  for (int first = warp*MANY; first < rows; first += gridDim.x*WARPS*MANY) {
    float mine = 0.0f;
    int seen = 0;
    for (int r = 0; r < MANY && first + r < rows; ++r) {
      const int* from = count + (size_t)(first + r)*categories;
      float sum = 0.0f;
      int total = 0;
      for (int start = lane; start < categories; start += 32*AHEAD) {
        int n[AHEAD];
        bool large = false;
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) n[i] = start + 32*i < categories ? from[start + 32*i] : 0;
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
          total += n[i];
          if (TABLE && n[i] > 0 && n[i] < COUNTS) sum += table[n[i]*stride + start + 32*i];
          large |= n[i] >= (TABLE ? COUNTS : 1);
        }
        if (large) sum += large_terms<TABLE>(from, log_alpha, table + COUNTS*stride, start, categories);
      }
      sum = warp_sum(sum);
      total = __reduce_add_sync(~0u, total);
      if (lane == r) mine = sum, seen = total;
    }
    if (lane < MANY && first + lane < rows) y[first + lane] = mine + (lgammaf(all) - lgammaf((float)seen + all));
  }
}
