//@ problem level3/4
//@ const THREADS = 256, WARPS = THREADS / 32, DEPTH = 16, LANES = 16, PART = 8, SPAN = 64
//@ let times = batch*len, count = batch*len*inner, tiles = ceildiv(times, 128), wide = ceildiv(inner, 64)
//@ scratch f32 g[batch, len, channels], p[batch, len, inner], z[batch, len, inner], a[batch, len, inner], delta[batch, len, inner]
//@ scratch f32 u[batch, len, state], v[batch, len, state], rate[inner, state], q[batch, len, inner], o[batch, len, channels]
//@ normalize<<<ceildiv(times, WARPS), THREADS>>>(x, norm_gain, g, times, channels)
//@ linear<8, 8><<<(tiles, wide), 128>>>(g, w_in, p, times, channels, inner)
//@ linear<8, 8><<<(tiles, wide), 128>>>(g, offset(w_in, inner*channels), z, times, channels, inner)
//@ convolve<<<ceildiv(count, THREADS), THREADS>>>(p, w_conv, b_conv, a, count, len, inner)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(a, count)
//@ linear<8, 8><<<(tiles, wide), 128>>>(a, w_delta, delta, times, inner, inner)
//@ softplus<<<ceildiv(count, THREADS), THREADS>>>(delta, b_delta, count, inner)
//@ linear<4, 2><<<(ceildiv(times, 64), ceildiv(state, 16)), 128>>>(a, w_u, u, times, inner, state)
//@ linear<4, 2><<<(ceildiv(times, 64), ceildiv(state, 16)), 128>>>(a, w_v, v, times, inner, state)
//@ exponential<<<ceildiv(inner*state, THREADS), THREADS>>>(a_log, rate, inner*state)
//@ if (state <= LANES) scan<1><<<(ceildiv(inner, PART), batch), (LANES, PART)>>>(a, delta, u, v, rate, q, len, inner, state)
//@ else scan<4><<<(ceildiv(inner, PART), batch), (LANES, PART)>>>(a, delta, u, v, rate, q, len, inner, state)
//@ add_skip<<<ceildiv(count, THREADS), THREADS>>>(a, skip, q, count, inner)
//@ silu<<<ceildiv(count, THREADS), THREADS>>>(z, count)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(q, z, count)
//@ linear<8, 8><<<(tiles, ceildiv(channels, 64)), 128>>>(q, w_out, o, times, inner, channels)
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

// y = x w^T in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
    __shared__ __align__(16) float a[DEPTH][16 * R + 4], b[DEPTH][8 * C + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * 16 * R, column = blockIdx.y * 8 * C;
    float sum[R][C] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + 16 * R; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            for (int c = ty; c < ty + 8 * C; c += 16) b[i][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < R; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * R + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            int i = row + ty * R + r, o = column + tx + 8 * c;
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

// LANES threads share the states of one channel, J each; a block follows PART neighbouring channels, SPAN steps at a time from
// shared memory.
template <int J>
__global__ void scan(const float* a, const float* delta, const float* u, const float* v, const float* rate, float* q,
                     int len, int inner, int state) {
    __shared__ float steps[SPAN][PART], values[SPAN][PART], results[SPAN][PART], in[SPAN][J * LANES], out[SPAN][J * LANES];
    int lane = threadIdx.x, own = threadIdx.y, thread = own * LANES + lane, first = blockIdx.x * PART, d = first + own;
    float h[J] = {}, r[J] = {};
    for (int j = 0; j < J; ++j)
        if (d < inner && lane + j * LANES < state) r[j] = rate[(size_t)d * state + lane + j * LANES];
    for (int start = 0; start < len; start += SPAN) {
        size_t at = (size_t)blockIdx.y * len + start;
        for (int i = thread; i < SPAN * PART; i += LANES * PART) {
            int t = i / PART, c = first + i % PART;
            bool inside = start + t < len && c < inner;
            steps[t][i % PART] = inside ? delta[(at + t) * inner + c] : 0.0f;
            values[t][i % PART] = inside ? a[(at + t) * inner + c] : 0.0f;
        }
        for (int i = thread; i < SPAN * J * LANES; i += LANES * PART) {
            int t = i / (J * LANES), s = i % (J * LANES);
            bool inside = start + t < len && s < state;
            in[t][s] = inside ? u[(at + t) * state + s] : 0.0f;
            out[t][s] = inside ? v[(at + t) * state + s] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < SPAN; ++t) {
            float step = steps[t][own], value = values[t][own], sum = 0.0f;
            for (int j = 0; j < J; ++j) {
                h[j] = expf(-step * r[j]) * h[j] + step * in[t][lane + j * LANES] * value;
                sum += h[j] * out[t][lane + j * LANES];
            }
            for (int k = LANES / 2; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
            if (lane == 0) results[t][own] = sum;
        }
        __syncthreads();
        for (int i = thread; i < SPAN * PART; i += LANES * PART) {
            int t = i / PART, c = first + i % PART;
            if (start + t < len && c < inner) q[(at + t) * inner + c] = results[t][i % PART];
        }
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
