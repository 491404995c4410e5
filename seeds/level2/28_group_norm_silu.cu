//@ problem level2/28
//@ const THREADS = 256
//@ let area = height*width, rows = batch*channels, span = per*area
//@ scratch f32 mean[batch, groups], rate[batch, groups]
//@ moments<<<batch*groups, THREADS>>>(x, mean, rate, span)
//@ normalize<<<ceildiv(rows*area, THREADS), THREADS>>>(x, mean, rate, gain, shift, y, rows*area, area, channels, per)
//@ silu<<<ceildiv(rows*area, THREADS), THREADS>>>(y, rows*area)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ float block_sum(float v) {
    __shared__ float part[32];
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < THREADS / 32; ++i) v += part[i];
    return v;
}

// A block for each group of each image.
__global__ void moments(const float* x, float* mean, float* rate, int span) {
    const float* from = x + (size_t)blockIdx.x * span;
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < span; i += THREADS) sum += from[i];
    float center = block_sum(sum) / span;
    for (int i = threadIdx.x; i < span; i += THREADS) square += (from[i] - center) * (from[i] - center);
    square = block_sum(square);
    if (threadIdx.x != 0) return;
    mean[blockIdx.x] = center;
    rate[blockIdx.x] = 1.0f / sqrtf(square / span + 1e-5f);
}

__global__ void normalize(const float* x, const float* mean, const float* rate, const float* gain, const float* shift, float* y,
                          size_t count, int area, int channels, int per) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t row = at / area, c = row % channels, g = row / per;
    y[at] = (x[at] - mean[g]) * rate[g] * gain[c] + shift[c];
}

__global__ void silu(float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] /= 1.0f + expf(-y[at]);
}
