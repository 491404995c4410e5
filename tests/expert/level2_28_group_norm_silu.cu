// Group norm and SiLU; a group that fits shared memory is read once, a larger one twice.
// Bytes an element: the seed reads x three times (one of them partly from the cache), writes y, reads and writes it again: 20 to 24.
// Here 8 for groups of up to 24,576 elements, one launch, and 12 beyond, two launches with many blocks for a group, where the seed
// sums a whole group in one block. Moments are those of centred values, merged exactly (Chan). Expected: 2 to 2.5 times the seed.
//@ problem level2/28
//@ const WIDE = 512, KEPT = 24576, THREADS = 256, EACH = 16, PART = THREADS*EACH
//@ let area = height*width, span = per*area, parts = ceildiv(span, PART)
//@ scratch f32 moments[span <= KEPT ? 0 : batch*groups*parts, 2]
//@ if (span <= KEPT) {
//@   if (area % 4 == 0) whole<4><<<batch*groups, WIDE, span*sizeof(f32)>>>(x, gain, shift, y, groups, per, area)
//@   else whole<1><<<batch*groups, WIDE, span*sizeof(f32)>>>(x, gain, shift, y, groups, per, area)
//@ } else {
//@   moments_of_parts<<<batch*groups*parts, THREADS>>>(x, moments, span, parts)
//@   if (area % 4 == 0) apply<4><<<batch*groups*parts, THREADS>>>(x, moments, gain, shift, y, groups, per, area, parts)
//@   else apply<1><<<batch*groups*parts, THREADS>>>(x, moments, gain, shift, y, groups, per, area, parts)
//@ }
#include <cmath>

template <int N>
struct Pack {
  alignas(N*4) float v[N];
};

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

// The same in all threads of a block of up to 32 warps.
__device__ float block_sum(float v) {
  __shared__ float part[32];
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f);
}

__device__ float silu(float z) { return z / (1.0f + expf(-z)); }

// Which channel of its group place `i` lies in, of `across` places each, while i grows by STEP: no division for each.
template <int STEP>
struct Channel {
  int channel, rest, across, whole, more;

  __device__ Channel(int i, int width) : channel(i / width), rest(i % width), across(width), whole(STEP / width), more(STEP % width) {}

  __device__ void next() {
    channel += whole;
    rest += more;
    if (rest >= across) {
      rest -= across;
      ++channel;
    }
  }
};

// A block for each group, which stays in shared memory; N elements of a channel at a time.
template <int N>
__global__ void __launch_bounds__(WIDE) whole(const float* __restrict__ x, const float* __restrict__ gain,
                                              const float* __restrict__ shift, float* __restrict__ y, int groups, int per, int area) {
  extern __shared__ __align__(16) float raw[];
  Pack<N>* kept = reinterpret_cast<Pack<N>*>(raw);
  const int span = per*area, count = span / N, channel = blockIdx.x % groups*per;
  const Pack<N>* __restrict__ from = reinterpret_cast<const Pack<N>*>(x + (size_t)blockIdx.x*span);
  float sum = 0.0f, square = 0.0f;
#pragma unroll (N == 4 ? 4 : 8)
  for (int i = threadIdx.x; i < count; i += WIDE) {
    const Pack<N> v = from[i];
    kept[i] = v;
    for (int e = 0; e < N; ++e) sum += v.v[e];
  }
  const float mean = block_sum(sum) / span;
  for (int i = threadIdx.x; i < count; i += WIDE) {
    const Pack<N> v = kept[i];  // the thread's own
    for (int e = 0; e < N; ++e) square += (v.v[e] - mean)*(v.v[e] - mean);
  }
  const float rate = 1.0f / sqrtf(block_sum(square) / span + 1e-5f);
  Pack<N>* __restrict__ to = reinterpret_cast<Pack<N>*>(y + (size_t)blockIdx.x*span);
  Channel<WIDE> at(threadIdx.x, area / N);
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += WIDE, at.next()) {
    const int c = channel + at.channel;
    const float factor = rate*gain[c], more = shift[c];
    Pack<N> v = kept[i];
    for (int e = 0; e < N; ++e) v.v[e] = silu((v.v[e] - mean)*factor + more);
    to[i] = v;
  }
}

// Mean and sum of centred squares of PART elements of a group, which stay in registers.
__global__ void __launch_bounds__(THREADS) moments_of_parts(const float* x, float2* moments, int span, int parts) {
  const int part = blockIdx.x % parts, here = min(PART, span - part*PART);
  const float* from = x + (size_t)(blockIdx.x / parts)*span + (size_t)part*PART;
  float v[EACH], sum = 0.0f, square = 0.0f;
#pragma unroll
  for (int i = 0; i < EACH; ++i) v[i] = i*THREADS + threadIdx.x < here ? from[i*THREADS + threadIdx.x] : 0.0f;
#pragma unroll
  for (int i = 0; i < EACH; ++i) sum += v[i];
  const float mean = block_sum(sum) / here;
#pragma unroll
  for (int i = 0; i < EACH; ++i)
    if (i*THREADS + threadIdx.x < here) square += (v[i] - mean)*(v[i] - mean);
  square = block_sum(square);
  if (threadIdx.x == 0) moments[blockIdx.x] = make_float2(mean, square);
}

// A block for each part. Each merges the moments of its group, in the same order.
template <int N>
__global__ void __launch_bounds__(THREADS) apply(const float* __restrict__ x, const float2* __restrict__ moments,
                                                 const float* __restrict__ gain, const float* __restrict__ shift,
                                                 float* __restrict__ y, int groups, int per, int area, int parts) {
  const int group = blockIdx.x / parts, part = blockIdx.x % parts, span = per*area, channel = group % groups*per;
  const float2* own = moments + (size_t)group*parts;
  float sum = 0.0f, square = 0.0f;
  for (int p = threadIdx.x; p < parts; p += THREADS) sum += own[p].x*min(PART, span - p*PART);
  const float mean = block_sum(sum) / span;
  for (int p = threadIdx.x; p < parts; p += THREADS) {
    const float off = own[p].x - mean;
    square += own[p].y + off*off*min(PART, span - p*PART);
  }
  const float rate = 1.0f / sqrtf(block_sum(square) / span + 1e-5f);
  const Pack<N>* __restrict__ from = reinterpret_cast<const Pack<N>*>(x + (size_t)group*span);
  Pack<N>* __restrict__ to = reinterpret_cast<Pack<N>*>(y + (size_t)group*span);
  const int begin = part*(PART / N) + threadIdx.x, end = min(span, (part + 1)*PART) / N;
  Channel<THREADS> at(begin, area / N);
#pragma unroll (N == 4 ? 4 : 8)
  for (int i = begin; i < end; i += THREADS, at.next()) {
    const int c = channel + at.channel;
    const float factor = rate*gain[c], more = shift[c];
    Pack<N> v = from[i];
    for (int e = 0; e < N; ++e) v.v[e] = silu((v.v[e] - mean)*factor + more);
    to[i] = v;
  }
}
