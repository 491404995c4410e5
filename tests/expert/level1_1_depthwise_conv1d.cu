// Depthwise convolution along time from shared memory, four outputs a thread.
// Bytes: 8 an element as in the seed, which waits for every sample and tests its place once for each tap. Here a block brings 1,024
// samples with their halo once, zeros at the ends, and a thread slides four outputs along 16-byte reads: (taps/4 + 1) reads
// of samples and taps/4 of taps for four outputs, no branch. Expected: 1.5 to 2.5 times the seed.
//@ problem level1/1
//@ const THREADS = 256, TILE = 4*THREADS
//@ filter<<<(ceildiv(length, TILE), min(batch*channels, 65535)), THREADS>>>(x, w, y, batch*channels, channels, length, taps)

__global__ void __launch_bounds__(THREADS, 7) filter(const float* x, const float* w, float* y, int rows, int channels, int length, int taps) {
  __shared__ __align__(16) float in[TILE + 64 + 8], tap[64 + 4], out[TILE];
  const int start = blockIdx.x*TILE, left = (taps - 1) / 2, padded = (taps + 3) / 4*4, here = min(TILE, length - start);
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const float* from = x + (size_t)row*length;
    // in[i] is the sample of time start - left + i, so that output 4i begins at a multiple of 16 bytes.
#pragma unroll 5
    for (int i = threadIdx.x; i < TILE + padded + 4; i += THREADS) {
      const int t = start - left + i;
      in[i] = t >= 0 && t < length ? from[t] : 0.0f;
    }
    if (threadIdx.x < padded) tap[threadIdx.x] = threadIdx.x < taps ? w[(size_t)(row % channels)*taps + threadIdx.x] : 0.0f;
    __syncthreads();
    const float4* samples = reinterpret_cast<const float4*>(in) + threadIdx.x;
    float sum[4] = {};
    float4 now = samples[0];
    for (int j = 0; j < padded / 4; ++j) {
      const float4 next = samples[j + 1], factor = reinterpret_cast<const float4*>(tap)[j];
      const float s[8] = {now.x, now.y, now.z, now.w, next.x, next.y, next.z, next.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += factor.x*s[i] + factor.y*s[i + 1] + factor.z*s[i + 2] + factor.w*s[i + 3];
      now = next;
    }
    float* to = y + (size_t)row*length + start;
    if (length % 4 == 0) {
      if (4*threadIdx.x < here) reinterpret_cast<float4*>(to)[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
      __syncthreads();
    } else {  // a row begins anywhere: results go through shared memory to be stored one after another
      reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
      __syncthreads();
      for (int i = threadIdx.x; i < here; i += THREADS) to[i] = out[i];
    }
  }
}
