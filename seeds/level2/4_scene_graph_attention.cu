//@ problem level2/4
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, TILE = 64, DEPTH = 16, NARROW = 32
//@ let places = batch*n, pairs = places*n, count = places*channels, square = channels*channels, groups = batch*heads
//@ let tiles = ceildiv(places, ROWS), wide = ceildiv(channels, COLS), deep = ceildiv(n, TILE)
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], o[places, channels]
//@ scratch f32 s[pairs, edge], r[pairs, heads], p[batch, heads, n, n], z[places, channels]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(nodes, norm_gain, norm_bias, x, places, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, w_qkv, norm_bias, q, places, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, square), norm_bias, k, places, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, 2*square), norm_bias, v, places, channels, channels)
//@ linear<true><<<(ceildiv(pairs, ROWS), ceildiv(edge, COLS)), THREADS>>>(pair, w_rel, b_rel, s, pairs, edge, edge)
//@ silu<<<ceildiv(pairs*edge, THREADS), THREADS>>>(s, pairs*edge)
//@ pair_bias<<<ceildiv(pairs, WARPS), THREADS>>>(s, w_bias, r, pairs, edge, heads)
//@ logits<<<(groups, deep, deep), THREADS>>>(q, k, p, n, n, heads, hd)
//@ add_bias<<<ceildiv(pairs*heads, THREADS), THREADS>>>(p, r, mask, pairs*heads, n, heads)
//@ softmax<<<ceildiv(groups*n, WARPS), THREADS>>>(p, groups*n, n)
//@ gather<<<(groups, deep, ceildiv(hd, NARROW)), THREADS>>>(p, v, o, n, n, heads, hd)
//@ linear<false><<<(tiles, wide), THREADS>>>(o, w_out, norm_bias, z, places, channels, channels)
//@ add<<<ceildiv(count, THREADS), THREADS>>>(nodes, z, y, count)
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

__global__ void silu(float* s, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) s[i] /= 1.0f + expf(-s[i]);
}

// bias = w pair: a warp for each pair, whose lanes share every dot product.
__global__ void pair_bias(const float* pair, const float* w, float* bias, size_t rows, int edge, int heads) {
    size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) return;
    for (int h = 0; h < heads; ++h) {
        float sum = 0.0f;
        for (int c = lane; c < edge; c += 32) sum += pair[r * edge + c] * w[h * edge + c];
        sum = warp_sum(sum);
        if (lane == 0) bias[r * heads + h] = sum;
    }
}

// q k^T / sqrt(hd) of one head in tiles of TILE x TILE; a thread makes 4 x 4. blockIdx.x counts (batch, head).
__global__ void logits(const float* q, const float* k, float* p, int queries, int keys, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = q + (batch * queries * heads + h) * hd;
    const float* other = k + (batch * keys * heads + h) * hd;
    float sum[4][4] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        int d = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < queries && d < hd ? from[(row + r) * step + d] : 0.0f;
            b[tx][r] = column + r < keys && d < hd ? other[(column + r) * step + d] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    float factor = 1.0f / sqrtf((float)hd);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int s = row + ty + 16 * r, m = column + tx + 16 * c;
            if (s < queries && m < keys) p[((size_t)blockIdx.x * queries + s) * keys + m] = sum[r][c] * factor;
        }
}

// p is [batch, heads, n, n], r [batch, n, n, heads]. What is masked becomes minus infinity.
__global__ void add_bias(float* p, const float* r, const float* mask, size_t count, int n, int heads) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t edges = (size_t)n * n, at = i / edges / heads * edges + i % edges, h = i / edges % heads;
    p[i] = mask[at] != 0.0f ? p[i] + r[at * heads + h] : -INFINITY;
}

// A warp for each row of logits; a row that is masked throughout becomes 0.
__global__ void softmax(float* p, size_t rows, int keys) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    float* at = p + row * keys;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < keys; m += 32) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < keys; m += 32) {
        float power = at[m] > -INFINITY ? expf(at[m] - top) : 0.0f;
        at[m] = power;
        total += power;
    }
    total = warp_sum(total);
    for (int m = lane; m < keys; m += 32) at[m] /= fmaxf(total, 1e-30f);
}

// p v of one head in tiles of TILE x NARROW; a thread makes 4 x 2.
__global__ void gather(const float* p, const float* v, float* o, int queries, int keys, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][NARROW];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * NARROW;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = v + (batch * keys * heads + h) * hd;
    float* to = o + (batch * queries * heads + h) * hd;
    float sum[4][2] = {};
    for (int start = 0; start < keys; start += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < queries && start + tx < keys ? p[((size_t)blockIdx.x * queries + row + r) * keys + start + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * NARROW; t += THREADS) {
            int m = start + t / NARROW, d = column + t % NARROW;
            b[t / NARROW][t % NARROW] = m < keys && d < hd ? from[m * step + d] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) {
            int s = row + ty + 16 * r, d = column + tx + 16 * c;
            if (s < queries && d < hd) to[s * step + d] = sum[r][c];
        }
}

__global__ void add(const float* x, const float* c, float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = x[at] + c[at];
}
