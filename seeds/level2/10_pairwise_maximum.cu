//@ problem level2/10
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*n, pairs = places*n, tiles = ceildiv(places, ROWS), pair_tiles = ceildiv(pairs, ROWS)
//@ let narrow = ceildiv(hidden, COLS), wide = ceildiv(channels, COLS)
//@ scratch f32 own[places, hidden], other[places, hidden], s[pairs, hidden], m[pairs, channels], top[places, channels]
//@ linear<true><<<(tiles, narrow), THREADS>>>(nodes, w_own, b_in, own, places, channels, hidden)
//@ linear<false><<<(tiles, narrow), THREADS>>>(nodes, w_other, b_in, other, places, channels, hidden)
//@ linear<false><<<(pair_tiles, narrow), THREADS>>>(pair, w_edge, b_in, s, pairs, edge, hidden)
//@ join<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(own, other, s, pairs*hidden, n, hidden)
//@ linear<true><<<(pair_tiles, wide), THREADS>>>(s, w_out, b_out, m, pairs, hidden, channels)
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

// y = x w^T (+ bias) in tiles of ROWS x COLS; a thread makes 8 x 4.
template <bool BIAS>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
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
