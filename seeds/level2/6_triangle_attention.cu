//@ problem level2/6
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let pairs = batch*n*n, count = pairs*channels, square = channels*channels, groups = batch*n*heads
//@ let tiles = ceildiv(pairs, 128), wide = ceildiv(channels, 64), high = ceildiv(n, ROWS), deep = ceildiv(n, COLS)
//@ scratch f32 x[pairs, channels], q[pairs, channels], k[pairs, channels], v[pairs, channels], gate[pairs, channels]
//@ scratch f32 o[pairs, channels], third[pairs, heads], third_front[batch, heads, n, n], p[batch, n, heads, n, n]
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, norm_gain, norm_bias, x, pairs, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, w_qkv, b_out, q, pairs, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, square), b_out, k, pairs, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, 2*square), b_out, v, pairs, channels, channels)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(x, w_gate, b_gate, gate, pairs, channels, channels)
//@ linear<8, 2, false><<<(tiles, ceildiv(heads, 16)), 128>>>(x, w_bias, b_out, third, pairs, channels, heads)
//@ transpose<<<ceildiv(pairs*heads, THREADS), THREADS>>>(third, third_front, n*n, heads, pairs*heads)
//@ logits<<<(groups, high, deep), 128>>>(q, k, p, n, heads, hd)
//@ add<<<(groups, ceildiv(n*n, THREADS)), THREADS>>>(p, third_front, n, heads)
//@ softmax<<<ceildiv(groups*n, WARPS), THREADS>>>(p, mask, groups*n, n, heads)
//@ if (hd <= 16) gather<2><<<(groups, high, 1), 128>>>(p, v, o, n, heads, hd)
//@ else gather<4><<<(groups, high, ceildiv(hd, 32)), 128>>>(p, v, o, n, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(o, w_out, b_out, y, pairs, channels, channels)
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

// [batch, edges, heads] to [batch, heads, edges]: neighbouring threads write neighbouring edges.
__global__ void transpose(const float* from, float* to, size_t edges, int heads, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t edge = i % edges, h = i / edges % heads, b = i / edges / heads;
    to[i] = from[(b * edges + edge) * heads + h];
}

// The vectors of one residue i and head start here and are heads*hd apart. blockIdx.x counts (batch, i, head).
__device__ size_t first_of(int n, int heads, int hd) {
    return ((size_t)(blockIdx.x / heads) * n * heads + blockIdx.x % heads) * hd;
}

// q k^T / sqrt(hd) of one residue and head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int n, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t first = first_of(n, heads, hd), step = (size_t)heads * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < n && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < n && d < hd ? k[first + (column + c) * step + d] : 0.0f;
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
            if (s < n && m < n) p[((size_t)blockIdx.x * n + s) * n + m] = sum[r][c] * factor;
        }
}

// Adds the bias of edge (j, m) and head to the logits of every residue i. blockIdx.x counts (batch, i, head).
__global__ void add(float* p, const float* third, int n, int heads) {
    size_t at = (size_t)blockIdx.y * THREADS + threadIdx.x, edges = (size_t)n * n, b = blockIdx.x / heads / n, h = blockIdx.x % heads;
    if (at < edges) p[blockIdx.x * edges + at] += third[(b * heads + h) * edges + at];
}

// A warp for each row of n logits; rows are ordered (batch, i, head, j).
__global__ void softmax(float* p, const float* mask, size_t rows, int n, int heads) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    const float* keep = mask + row / n / heads * n;
    float* at = p + row * n;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < n; m += 32)
        if (keep[m] != 0.0f) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < n; m += 32)
        if (keep[m] != 0.0f) total += expf(at[m] - top);
    total = warp_sum(total);
    for (int m = lane; m < n; m += 32) at[m] = keep[m] != 0.0f ? expf(at[m] - top) / total : 0.0f;
}

// p v of one residue and head in tiles of ROWS x 8 C, 128 threads for each; a thread makes 8 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int n, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * 8 * C;
    size_t first = first_of(n, heads, hd), step = (size_t)heads * hd;
    float sum[8][C] = {};
    for (int start = 0; start < n; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + ROWS; r += 16)
                a[i][r] = row + r < n && m < n ? p[((size_t)blockIdx.x * n + row + r) * n + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < n && d < hd ? v[first + m * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < C; ++c) {
            int s = row + ty * 8 + r, d = column + tx + 8 * c;
            if (s < n && d < hd) o[first + s * step + d] = sum[r][c];
        }
}

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
