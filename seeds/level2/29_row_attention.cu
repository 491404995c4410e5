//@ problem level2/29
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*depth*res, count = places*channels, square = channels*channels, groups = batch*depth*heads
//@ let tiles = ceildiv(places, 128), wide = ceildiv(channels, 64), high = ceildiv(res, ROWS), deep = ceildiv(res, COLS), pairs = batch*res*res
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], gate[places, channels]
//@ scratch f32 o[places, channels], bias[pairs, heads], bias_front[batch, heads, res, res], p[batch, depth, heads, res, res]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, w_qkv, b_out, q, places, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, square), b_out, k, places, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, 2*square), b_out, v, places, channels, channels)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(x, w_gate, b_gate, gate, places, channels, channels)
//@ linear<8, 2, false><<<(ceildiv(pairs, 128), ceildiv(heads, 16)), 128>>>(pair, w_bias, b_out, bias, pairs, edge, heads)
//@ transpose<<<ceildiv(pairs*heads, THREADS), THREADS>>>(bias, bias_front, res*res, heads, pairs*heads)
//@ logits<<<(groups, high, deep), 128>>>(q, k, p, res, heads, hd)
//@ add<<<(groups, ceildiv(res*res, THREADS)), THREADS>>>(p, bias_front, depth, res, heads)
//@ softmax<<<ceildiv(groups*res, WARPS), THREADS>>>(p, mask, groups*res, res, heads)
//@ if (hd <= 16) gather<2><<<(groups, high, 1), 128>>>(p, v, o, res, heads, hd)
//@ else gather<4><<<(groups, high, ceildiv(hd, 32)), 128>>>(p, v, o, res, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(o, w_out, b_out, y, places, channels, channels)
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

// [batch, pairs, heads] to [batch, heads, pairs]: neighbouring threads write neighbouring pairs.
__global__ void transpose(const float* from, float* to, size_t pairs, int heads, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t pair = i % pairs, h = i / pairs % heads, b = i / pairs / heads;
    to[i] = from[(b * pairs + pair) * heads + h];
}

// The vectors of one sequence and head start here and are heads*hd apart. blockIdx.x counts (batch, sequence, head).
__device__ size_t first_of(int res, int heads, int hd) {
    return ((size_t)(blockIdx.x / heads) * res * heads + blockIdx.x % heads) * hd;
}

// q k^T / sqrt(hd) of one sequence and head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int res, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t first = first_of(res, heads, hd), step = (size_t)heads * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < res && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < res && d < hd ? k[first + (column + c) * step + d] : 0.0f;
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
            if (s < res && m < res) p[((size_t)blockIdx.x * res + s) * res + m] = sum[r][c] * factor;
        }
}

// Adds the bias of a pair and head to the logits of every sequence. blockIdx.x counts (batch, sequence, head).
__global__ void add(float* p, const float* bias, int depth, int res, int heads) {
    size_t at = (size_t)blockIdx.y * THREADS + threadIdx.x, pairs = (size_t)res * res;
    size_t b = blockIdx.x / heads / depth, h = blockIdx.x % heads;
    if (at < pairs) p[blockIdx.x * pairs + at] += bias[(b * heads + h) * pairs + at];
}

// A warp for each row of `res` logits; rows are ordered (batch, sequence, head, residue).
__global__ void softmax(float* p, const float* mask, size_t rows, int res, int heads) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    const float* keep = mask + row / res / heads * res;
    float* at = p + row * res;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < res; m += 32)
        if (keep[m] != 0.0f) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < res; m += 32)
        if (keep[m] != 0.0f) total += expf(at[m] - top);
    total = warp_sum(total);
    for (int m = lane; m < res; m += 32) at[m] = keep[m] != 0.0f ? expf(at[m] - top) / total : 0.0f;
}

// p v of one sequence and head in tiles of ROWS x 8 C, 128 threads for each; a thread makes 8 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int res, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * 8 * C;
    size_t first = first_of(res, heads, hd), step = (size_t)heads * hd;
    float sum[8][C] = {};
    for (int start = 0; start < res; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + ROWS; r += 16)
                a[i][r] = row + r < res && m < res ? p[((size_t)blockIdx.x * res + row + r) * res + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < res && d < hd ? v[first + m * step + d] : 0.0f;
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
            if (s < res && d < hd) o[first + s * step + d] = sum[r][c];
        }
}

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
