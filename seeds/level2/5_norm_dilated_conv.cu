//@ problem level2/5
//@ const THREADS = 256, PARTS = 256, TO = 64, TT = 128, TK = 16
//@ let sample = channels*length, count = batch*sample, parts = min(PARTS, ceildiv(sample, 4*THREADS))
//@ scratch f32 a[batch, channels, length], z[batch, channels, length], part_mean[batch, parts], part_square[batch, parts]
//@ scratch f32 mean[batch], rate[batch]
//@ part_moments<<<(parts, batch), THREADS>>>(x, part_mean, part_square, sample)
//@ moments<<<batch, 32>>>(part_mean, part_square, mean, rate, sample, parts)
//@ normalize<<<(ceildiv(sample, THREADS), batch), THREADS>>>(x, mean, rate, gain, shift, a, sample)
//@ gelu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ conv<<<(ceildiv(length, TT), ceildiv(channels, TO), batch), THREADS>>>(a, w, bias, z, channels, length, taps, dilation)
//@ add<<<ceildiv(count, THREADS), THREADS>>>(x, z, y, count)
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

// The span of part `i` of a sample.
__device__ int first_of(int i, int sample, int parts) { return (int)((long long)i * sample / parts); }

// Mean, and sum of squares about it, of a part of a sample.
__global__ void part_moments(const float* x, float* part_mean, float* part_square, int sample) {
    const float* from = x + (size_t)blockIdx.y * sample;
    int first = first_of(blockIdx.x, sample, gridDim.x), end = first_of(blockIdx.x + 1, sample, gridDim.x);
    float sum = 0.0f, square = 0.0f;
    for (int s = first + threadIdx.x; s < end; s += THREADS) sum += from[s];
    float mean = block_sum(sum) / (end - first);
    for (int s = first + threadIdx.x; s < end; s += THREADS) square += (from[s] - mean) * (from[s] - mean);
    square = block_sum(square);
    if (threadIdx.x != 0) return;
    part_mean[blockIdx.y * gridDim.x + blockIdx.x] = mean;
    part_square[blockIdx.y * gridDim.x + blockIdx.x] = square;
}

// The parts together: a warp for each sample.
__global__ void moments(const float* part_mean, const float* part_square, float* mean, float* rate, int sample, int parts) {
    const float* own_mean = part_mean + blockIdx.x * parts;
    const float* own_square = part_square + blockIdx.x * parts;
    float sum = 0.0f, square = 0.0f;
    for (int p = threadIdx.x; p < parts; p += 32) sum += own_mean[p] * (first_of(p + 1, sample, parts) - first_of(p, sample, parts));
    float center = warp_sum(sum) / sample;
    for (int p = threadIdx.x; p < parts; p += 32) {
        float off = own_mean[p] - center;
        square += own_square[p] + off * off * (first_of(p + 1, sample, parts) - first_of(p, sample, parts));
    }
    square = warp_sum(square);
    if (threadIdx.x != 0) return;
    mean[blockIdx.x] = center;
    rate[blockIdx.x] = 1.0f / sqrtf(square / sample + 1e-5f);
}

__global__ void normalize(const float* x, const float* mean, const float* rate, const float* gain, const float* shift, float* a, int sample) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    size_t at = (size_t)blockIdx.y * sample + s;
    if (s < sample) a[at] = (x[at] - mean[blockIdx.y]) * rate[blockIdx.y] * gain[s] + shift[s];
}

__global__ void gelu(float* a, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) a[at] = 0.5f * a[at] * (1.0f + erff(a[at] * 0.70710678f));
}

// An implicit matrix product: rows are output channels, columns are times, the inner index runs over (channel, tap).
// A block makes TO x TT results from tiles in shared memory, a thread 4 channels x 8 times.
__global__ void conv(const float* x, const float* w, const float* bias, float* y, int channels, int length, int taps,
                     int dilation) {
    __shared__ float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int o0 = blockIdx.y * TO, t0 = blockIdx.x * TT, inner = taps * channels;
    const float* input = x + (size_t)blockIdx.z * channels * length;
    float sum[4][8] = {};
    for (int k0 = 0; k0 < inner; k0 += TK) {
        for (int i = threadIdx.x; i < TO * TK; i += 256) {
            int o = o0 + i / TK, k = k0 + i % TK;
            a[i % TK][i / TK] = o < channels && k < inner ? w[(size_t)o * inner + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TT * TK; i += 256) {
            int k = k0 + i / TT, at = t0 + i % TT + (k % taps - taps / 2) * dilation;
            b[i / TT][i % TT] = k < inner && at >= 0 && at < length ? input[(size_t)(k / taps) * length + at] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[k][ty * 4 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
            int o = o0 + ty * 4 + i, t = t0 + tx + 16 * j;
            if (o < channels && t < length) y[((size_t)blockIdx.z * channels + o) * length + t] = sum[i][j] + bias[o];
        }
}

__global__ void add(const float* x, const float* c, float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = x[at] + c[at];
}
