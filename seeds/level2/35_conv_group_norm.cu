//@ problem level2/35
//@ const THREADS = 256, TO = 64, TT = 128, TK = 16
//@ let count = batch*cout*length
//@ scratch f32 a[batch, cout, length], mean[batch, groups], rate[batch, groups]
//@ conv<<<(ceildiv(length, TT), ceildiv(cout, TO), batch), THREADS>>>(x, w, bias, a, cin, cout, length, taps, reach)
//@ moments<<<batch*groups, THREADS>>>(a, mean, rate, width*length)
//@ normalize<<<ceildiv(count, THREADS), THREADS>>>(a, mean, rate, gain, shift, y, count, cout, width, length)
#include <cmath>

// An implicit matrix product: rows are output channels, columns are times, the inner index runs over (channel, tap).
// A block makes TO x TT results from tiles in shared memory, a thread 4 channels x 8 times.
__global__ void conv(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int length, int taps, int reach) {
    __shared__ float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int o0 = blockIdx.y * TO, t0 = blockIdx.x * TT, inner = cin * taps;
    const float* input = x + (size_t)blockIdx.z * cin * length;
    float sum[4][8] = {};
    for (int k0 = 0; k0 < inner; k0 += TK) {
        for (int i = threadIdx.x; i < TO * TK; i += THREADS) {
            int o = o0 + i / TK, k = k0 + i % TK;
            a[i % TK][i / TK] = o < cout && k < inner ? w[(size_t)o * inner + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TT * TK; i += THREADS) {
            int k = k0 + i / TT, at = t0 + i % TT + k % taps - reach;
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
            if (o < cout && t < length) y[((size_t)blockIdx.z * cout + o) * length + t] = sum[i][j] + bias[o];
        }
}

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < THREADS / 32; ++i) v += part[i];
    return v;
}

// A block for each sample and group, whose numbers lie one after the other.
__global__ void moments(const float* a, float* mean, float* rate, int size) {
    const float* own = a + (size_t)blockIdx.x * size;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < size; i += THREADS) sum += own[i];
    float center = block_sum(sum) / size;
    for (int i = threadIdx.x; i < size; i += THREADS) squares += (own[i] - center) * (own[i] - center);
    squares = block_sum(squares);
    if (threadIdx.x != 0) return;
    mean[blockIdx.x] = center;
    rate[blockIdx.x] = 1.0f / sqrtf(squares / size + 1e-5f);
}

__global__ void normalize(const float* a, const float* mean, const float* rate, const float* gain, const float* shift, float* y,
                          size_t count, int cout, int width, int length) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t o = at / length % cout, group = at / length / width;
    y[at] = (a[at] - mean[group]) * rate[group] * gain[o] + shift[o];
}
