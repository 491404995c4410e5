//@ problem level2/39
//@ const THREADS = 256, TO = 64, TT = 128, TK = 16
//@ let count = batch*channels*length
//@ scratch f32 a[batch, channels, length]
//@ filter<<<ceildiv(count, THREADS), THREADS>>>(x, w_depth, b_depth, a, count, channels, length, taps, reach, dilation)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ project<<<(ceildiv(length, TT), ceildiv(outputs, TO), batch), 128>>>(a, w_point, b_point, y, channels, outputs, length)
#include <cmath>

__global__ void filter(const float* x, const float* w, const float* bias, float* a, size_t count, int channels, int length, int taps,
                       int reach, int dilation) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int t = (int)(i % length), c = (int)(i / length % channels);
    float sum = bias[c];
    for (int j = 0; j < taps; ++j) {
        int step = (j - reach) * dilation;
        if (t + step >= 0 && t + step < length) sum += w[c * taps + j] * x[(long long)i + step];
    }
    a[i] = sum;
}

__global__ void silu(float* a, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) a[i] = a[i] / (1.0f + expf(-a[i]));
}

// A matrix product for each sample: 128 threads make TO x TT results from tiles in shared memory, each 8 outputs x 8 times.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int channels, int outputs, int length) {
    __shared__ __align__(16) float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, o0 = blockIdx.y * TO, t0 = blockIdx.x * TT;
    const float* input = x + (size_t)blockIdx.z * channels * length;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < channels; k0 += TK) {
        for (int o = ty; o < TO; o += 8) a[tx][o] = o0 + o < outputs && k0 + tx < channels ? w[(size_t)(o0 + o) * channels + k0 + tx] : 0.0f;
        for (int k = 0; k < TK; ++k) {
            int t = t0 + threadIdx.x;
            b[k][threadIdx.x] = k0 + k < channels && t < length ? input[(size_t)(k0 + k) * length + t] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[k][ty * 8 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int o = o0 + ty * 8 + i, t = t0 + tx + 16 * j;
            if (o < outputs && t < length) y[((size_t)blockIdx.z * outputs + o) * length + t] = sum[i][j] + bias[o];
        }
}
