//@ problem level2/39
//@ const THREADS = 256, TO = 64, TT = 128, TK = 16
//@ let count = batch*channels*length
//@ scratch f32 a[batch, channels, length]
//@ filter<<<ceildiv(count, THREADS), THREADS>>>(x, w_depth, b_depth, a, count, channels, length, taps, reach, dilation)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ project<<<(ceildiv(length, TT), ceildiv(outputs, TO), batch), THREADS>>>(a, w_point, b_point, y, channels, outputs, length)
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

// A matrix product for each sample: a block makes TO x TT results from tiles in shared memory, a thread 4 outputs x 8 times.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int channels, int outputs, int length) {
    __shared__ float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, o0 = blockIdx.y * TO, t0 = blockIdx.x * TT;
    const float* input = x + (size_t)blockIdx.z * channels * length;
    float sum[4][8] = {};
    for (int k0 = 0; k0 < channels; k0 += TK) {
        for (int i = threadIdx.x; i < TO * TK; i += THREADS) {
            int o = o0 + i / TK, k = k0 + i % TK;
            a[i % TK][i / TK] = o < outputs && k < channels ? w[(size_t)o * channels + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TT * TK; i += THREADS) {
            int k = k0 + i / TT, t = t0 + i % TT;
            b[i / TT][i % TT] = k < channels && t < length ? input[(size_t)k * length + t] : 0.0f;
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
            if (o < outputs && t < length) y[((size_t)blockIdx.z * outputs + o) * length + t] = sum[i][j] + bias[o];
        }
}
