//@ problem level2/12
//@ const THREADS = 256, TO = 64, TT = 128, TK = 16
//@ let count = batch*channels*length
//@ scratch f32 a[batch, channels, length], z[batch, channels, length], part_mean[batch, channels], part_square[batch, channels]
//@ scratch f32 mean[channels], var[channels]
//@ part_moments<<<batch*channels, THREADS>>>(x, part_mean, part_square, length)
//@ moments<<<ceildiv(channels, 128), 128>>>(part_mean, part_square, mean, var, batch, channels, length)
//@ follow<<<ceildiv(channels, 128), 128>>>(mean, var, mean_run, var_run, mean_next, var_next, momentum, channels, batch*length)
//@ normalize<<<(ceildiv(length, THREADS), channels, batch), THREADS>>>(x, mean, var, gain, shift, a, channels, length)
//@ gelu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ conv<<<(ceildiv(length, TT), ceildiv(channels, TO), batch), 128>>>(a, w, bias, z, channels, length, taps, dilation)
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

// Mean, and sum of squares about it, of one channel of one sample.
__global__ void part_moments(const float* x, float* part_mean, float* part_square, int length) {
    const float* from = x + (size_t)blockIdx.x * length;
    float sum = 0.0f, square = 0.0f;
    for (int t = threadIdx.x; t < length; t += THREADS) sum += from[t];
    float mean = block_sum(sum) / length;
    for (int t = threadIdx.x; t < length; t += THREADS) square += (from[t] - mean) * (from[t] - mean);
    square = block_sum(square);
    if (threadIdx.x != 0) return;
    part_mean[blockIdx.x] = mean;
    part_square[blockIdx.x] = square;
}

// The samples together, a thread for each channel.
__global__ void moments(const float* part_mean, const float* part_square, float* mean, float* var, int batch, int channels,
                        int length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float sum = 0.0f, square = 0.0f;
    for (int b = 0; b < batch; ++b) sum += part_mean[b * channels + c];
    float center = sum / batch;
    for (int b = 0; b < batch; ++b) {
        float off = part_mean[b * channels + c] - center;
        square += part_square[b * channels + c] / length + off * off;
    }
    mean[c] = center;
    var[c] = square / batch;
}

__global__ void follow(const float* mean, const float* var, const float* mean_run, const float* var_run, float* mean_next,
                       float* var_next, float momentum, int channels, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    mean_next[c] = (1.0f - momentum) * mean_run[c] + momentum * mean[c];
    var_next[c] = (1.0f - momentum) * var_run[c] + momentum * var[c] * ((float)n / (n - 1));
}

__global__ void normalize(const float* x, const float* mean, const float* var, const float* gain, const float* shift, float* a,
                          int channels, int length) {
    int t = blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
    size_t at = ((size_t)blockIdx.z * channels + c) * length + t;
    if (t < length) a[at] = (x[at] - mean[c]) / sqrtf(var[c] + 1e-5f) * gain[c] + shift[c];
}

__global__ void gelu(float* a, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) a[at] = 0.5f * a[at] * (1.0f + erff(a[at] * 0.70710678f));
}

// A matrix product for each tap: rows are output channels, columns are times, the inner index runs over channels. A block makes
// TO x TT results from tiles in shared memory, a thread 8 channels x 8 times.
__global__ void __launch_bounds__(128, 4) conv(const float* x, const float* w, const float* bias, float* y, int channels, int length,
                                               int taps, int dilation) {
    __shared__ __align__(16) float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, o0 = blockIdx.y * TO, t0 = blockIdx.x * TT;
    const float* input = x + (size_t)blockIdx.z * channels * length;
    float sum[8][8] = {};
    for (int tap = 0; tap < taps; ++tap) {
        int shift = (tap - taps / 2) * dilation;
        for (int c0 = 0; c0 < channels; c0 += TK) {
            for (int i = threadIdx.x; i < TO * TK; i += 128) {
                int o = o0 + i / TK, c = c0 + i % TK;
                a[i % TK][i / TK] = o < channels && c < channels ? w[((size_t)o * channels + c) * taps + tap] : 0.0f;
            }
            for (int i = threadIdx.x; i < TT * TK; i += 128) {
                int c = c0 + i / TT, t = t0 + i % TT + shift;
                b[i / TT][i % TT] = c < channels && t >= 0 && t < length ? input[(size_t)c * length + t] : 0.0f;
            }
            __syncthreads();
#pragma unroll 4
            for (int k = 0; k < TK; ++k)
                for (int i = 0; i < 8; ++i)
                    for (int j = 0; j < 8; ++j) sum[i][j] += a[k][ty * 8 + i] * b[k][tx + 16 * j];
            __syncthreads();
        }
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int o = o0 + ty * 8 + i, t = t0 + tx + 16 * j;
            if (o < channels && t < length) y[((size_t)blockIdx.z * channels + o) * length + t] = sum[i][j] + bias[o];
        }
}

__global__ void add(const float* x, const float* c, float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = x[at] + c[at];
}
