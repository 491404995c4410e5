//@ problem level2/10
//@ const THREADS = 256, WARPS = THREADS / 32, DEPTH = 16
//@ let places = batch*n, pairs = places*n, tiles = ceildiv(places, 32), pair_tiles = ceildiv(pairs, 128)
//@ let narrow = ceildiv(hidden, 64), wide = ceildiv(channels, 64)
//@ scratch f32 own[places, hidden], other[places, hidden], s[pairs, hidden], m[pairs, channels], top[places, channels]
//@ linear<2, 8, true><<<(tiles, narrow), 128>>>(nodes, w_own, b_in, own, places, channels, hidden)
//@ linear<2, 8, false><<<(tiles, narrow), 128>>>(nodes, w_other, b_in, other, places, channels, hidden)
//@ linear<8, 8, false><<<(pair_tiles, narrow), 128>>>(pair, w_edge, b_in, s, pairs, edge, hidden)
//@ join<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(own, other, s, pairs*hidden, n, hidden)
//@ linear<8, 8, true><<<(pair_tiles, wide), 128>>>(s, w_out, b_out, m, pairs, hidden, channels)
//@ aggregate<<<(places, ceildiv(channels, 64)), 64>>>(m, mask, top, n, channels)
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(top, norm_gain, norm_bias, y, places, channels)
//@ add<<<ceildiv(places*channels, THREADS), THREADS>>>(nodes, top, y, places*channels)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each vector.
__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* v = x + (size_t)r * width;
    float mean = 0.0f, var = 0.0f;
    for (int c = lane; c < width; c += 32) mean += v[c];
    mean = warp_sum(mean) / width;
    for (int c = lane; c < width; c += 32) var += (v[c] - mean) * (v[c] - mean);
    float factor = 1.0f / sqrtf(warp_sum(var) / width + 1e-5f);
    for (int c = lane; c < width; c += 32) y[(size_t)r * width + c] = (v[c] - mean) * factor * gain[c] + bias[c];
}

// y = x w^T (+ bias) in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C, bool BIAS>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}

__global__ void join(const float* own, const float* other, float* s, size_t count, int n, int hidden) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t h = at % hidden, j = at / hidden % n, i = at / hidden / n;
    float t = own[i * hidden + h] + other[(i / n * n + j) * hidden + h] + s[at];
    s[at] = t / (1.0f + expf(-t));
}

// A block for each object and 64 channels; minus infinity where there is no message.
__global__ void aggregate(const float* m, const float* mask, float* top, int n, int channels) {
    size_t i = blockIdx.x;
    int c = blockIdx.y * 64 + threadIdx.x;
    if (c >= channels) return;
    float best = -INFINITY;
    for (int j = 0; j < n; ++j)
        if (mask[i * n + j] != 0.0f) best = fmaxf(best, m[(i * n + j) * channels + c]);
    top[i * channels + c] = best;
}

// y holds the normalized messages.
__global__ void add(const float* nodes, const float* top, float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = top[at] > -INFINITY ? nodes[at] + y[at] : nodes[at];
}
