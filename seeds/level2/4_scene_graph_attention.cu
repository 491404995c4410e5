//@ problem level2/4
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*n, pairs = places*n, count = places*channels, square = channels*channels, groups = batch*heads
//@ let tiles = ceildiv(places, 32), wide = ceildiv(channels, COLS), high = ceildiv(n, ROWS), deep = ceildiv(n, COLS)
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], o[places, channels]
//@ scratch f32 s[pairs, edge], r[pairs, heads], p[batch, heads, n, n], z[places, channels]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(nodes, norm_gain, norm_bias, x, places, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, w_qkv, norm_bias, q, places, channels, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, square), norm_bias, k, places, channels, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, 2*square), norm_bias, v, places, channels, channels)
//@ linear<8, 8, true><<<(ceildiv(pairs, 128), ceildiv(edge, 64)), 128>>>(pair, w_rel, b_rel, s, pairs, edge, edge)
//@ silu<<<ceildiv(pairs*edge, THREADS), THREADS>>>(s, pairs*edge)
//@ linear<8, 2, false><<<(ceildiv(pairs, 128), ceildiv(heads, 16)), 128>>>(s, w_bias, norm_bias, r, pairs, edge, heads)
//@ logits<<<(groups, high, deep), 128>>>(q, k, p, n, n, heads, hd)
//@ add_bias<<<(groups, ceildiv(n*n, THREADS)), THREADS>>>(p, r, mask, n, heads)
//@ softmax<<<ceildiv(groups*n, WARPS), THREADS>>>(p, groups*n, n)
//@ gather<4><<<(groups, ceildiv(n, 64), ceildiv(hd, 32)), 128>>>(p, v, o, n, n, heads, hd)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(o, w_out, norm_bias, z, places, channels, channels)
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

__global__ void silu(float* s, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) s[i] /= 1.0f + expf(-s[i]);
}

// q k^T / sqrt(hd) of one head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8. blockIdx.x counts
// (batch, head).
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int queries, int keys, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = q + (batch * queries * heads + h) * hd;
    const float* other = k + (batch * keys * heads + h) * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < queries && d < hd ? from[(row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < keys && d < hd ? other[(column + c) * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    float factor = 1.0f / sqrtf((float)hd);
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int s = row + ty * 8 + r, m = column + tx + 8 * c;
            if (s < queries && m < keys) p[((size_t)blockIdx.x * queries + s) * keys + m] = sum[r][c] * factor;
        }
}

// p is [batch, heads, n, n], r [batch, n, n, heads]; what is masked becomes minus infinity. blockIdx.x counts (batch, head).
__global__ void add_bias(float* p, const float* r, const float* mask, int n, int heads) {
    size_t edges = (size_t)n * n, at = (size_t)blockIdx.y * THREADS + threadIdx.x, own = blockIdx.x * edges + at;
    size_t edge = blockIdx.x / heads * edges + at, h = blockIdx.x % heads;
    if (at < edges) p[own] = mask[edge] != 0.0f ? p[own] + r[edge * heads + h] : -INFINITY;
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
    if (top == -INFINITY) top = 0.0f;
    for (int m = lane; m < keys; m += 32) total += expf(at[m] - top);
    total = fmaxf(warp_sum(total), 1e-30f);
    for (int m = lane; m < keys; m += 32) at[m] = expf(at[m] - top) / total;
}

// p v of one head in tiles of 64 x 8 C, 128 threads for each; a thread makes 4 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int queries, int keys, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][64 + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * 64, column = blockIdx.z * 8 * C;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = v + (batch * keys * heads + h) * hd;
    float* to = o + (batch * queries * heads + h) * hd;
    float sum[4][C] = {};
    for (int start = 0; start < keys; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + 64; r += 16)
                a[i][r] = row + r < queries && m < keys ? p[((size_t)blockIdx.x * queries + row + r) * keys + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < keys && d < hd ? from[m * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * 4 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < C; ++c) {
            int s = row + ty * 4 + r, d = column + tx + 8 * c;
            if (s < queries && d < hd) to[s * step + d] = sum[r][c];
        }
}

__global__ void add(const float* x, const float* c, float* y, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] = x[at] + c[at];
}
