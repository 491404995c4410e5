//@ problem level3/4
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16, LANES = 16, PART = 8
//@ let times = batch*len, count = batch*len*inner, tiles = ceildiv(times, ROWS), wide = ceildiv(inner, COLS), few = ceildiv(state, COLS)
//@ scratch f32 g[batch, len, channels], p[batch, len, inner], z[batch, len, inner], a[batch, len, inner], delta[batch, len, inner]
//@ scratch f32 u[batch, len, state], v[batch, len, state], rate[inner, state], q[batch, len, inner], o[batch, len, channels]
//@ normalize<<<ceildiv(times, WARPS), THREADS>>>(x, norm_gain, g, times, channels)
//@ linear<<<(tiles, wide), THREADS>>>(g, w_in, p, times, channels, inner)
//@ linear<<<(tiles, wide), THREADS>>>(g, offset(w_in, inner*channels), z, times, channels, inner)
//@ convolve<<<ceildiv(count, THREADS), THREADS>>>(p, w_conv, b_conv, a, count, len, inner)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ linear<<<(tiles, wide), THREADS>>>(a, w_delta, delta, times, inner, inner)
//@ softplus<<<ceildiv(count, THREADS), THREADS>>>(delta, b_delta, count, inner)
//@ linear<<<(tiles, few), THREADS>>>(a, w_u, u, times, inner, state)
//@ linear<<<(tiles, few), THREADS>>>(a, w_v, v, times, inner, state)
//@ exponential<<<ceildiv(inner*state, THREADS), THREADS>>>(a_log, rate, inner*state)
//@ scan<<<(ceildiv(inner, PART), batch), (LANES, PART)>>>(a, delta, u, v, rate, q, len, inner, state)
//@ add_skip<<<ceildiv(count, THREADS), THREADS>>>(a, skip, q, count, inner)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(z, count)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(q, z, count)
//@ linear<<<(tiles, ceildiv(channels, COLS)), THREADS>>>(q, w_out, o, times, inner, channels)
//@ add<<<ceildiv(times*channels, THREADS), THREADS>>>(x, o, y, times*channels)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each vector.
__global__ void normalize(const float* x, const float* gain, float* g, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* v = x + (size_t)r * width;
    float squares = 0.0f;
    for (int c = lane; c < width; c += 32) squares += v[c] * v[c];
    float factor = 1.0f / sqrtf(warp_sum(squares) / width + 1e-5f);
    for (int c = lane; c < width; c += 32) g[(size_t)r * width + c] = v[c] * factor * gain[c];
}

// y = x w^T in tiles of ROWS x COLS; a thread makes 8 x 4.
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
    __shared__ float a[DEPTH][ROWS + 1], b[DEPTH][COLS + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][4] = {};
    for (int first = 0; first < in; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < ROWS; r += 16) a[tx][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
        for (int c = ty; c < COLS; c += 16) b[tx][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty * 8 + r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c];
        }
}

__global__ void convolve(const float* p, const float* w, const float* bias, float* a, size_t count, int len, int inner) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int d = (int)(i % inner), t = (int)(i / inner % len);
    float sum = bias[d];
    for (int j = 0; j < 4; ++j)
        if (t - 3 + j >= 0) sum += w[d * 4 + j] * p[i - (size_t)(3 - j) * inner];
    a[i] = sum;
}

__global__ void silu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = v[i] / (1.0f + expf(-v[i]));
}

__global__ void softplus(float* v, const float* bias, size_t count, int inner) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float a = v[i] + bias[i % inner];
    v[i] = fmaxf(a, 0.0f) + log1pf(expf(-fabsf(a)));
}

__global__ void exponential(const float* a_log, float* rate, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) rate[i] = expf(a_log[i]);
}

// LANES threads share the states of one channel, up to four each; a block follows PART neighbouring channels.
__global__ void scan(const float* a, const float* delta, const float* u, const float* v, const float* rate, float* q,
                     int len, int inner, int state) {
    int d = blockIdx.x * PART + threadIdx.y, lane = threadIdx.x;
    bool valid = d < inner;
    float h[4] = {}, r[4] = {};
    for (int j = 0; j < 4; ++j)
        if (valid && lane + j * LANES < state) r[j] = rate[(size_t)d * state + lane + j * LANES];
    for (int t = 0; t < len; ++t) {
        size_t at = (size_t)blockIdx.y * len + t;
        float step = valid ? delta[at * inner + d] : 0.0f, value = valid ? a[at * inner + d] : 0.0f, sum = 0.0f;
        for (int j = 0; j < 4; ++j) {
            int s = lane + j * LANES;
            if (s >= state) break;
            h[j] = expf(-step * r[j]) * h[j] + step * u[at * state + s] * value;
            sum += h[j] * v[at * state + s];
        }
        for (int k = LANES / 2; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
        if (valid && lane == 0) q[at * inner + d] = sum;
    }
}

__global__ void add_skip(const float* a, const float* skip, float* q, size_t count, int inner) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) q[i] += skip[i % inner] * a[i];
}

__global__ void multiply(float* q, const float* z, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) q[i] *= z[i];
}

__global__ void add(const float* x, const float* o, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] = x[i] + o[i];
}
