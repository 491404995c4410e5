//@ problem level2/3
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let asked = batch*queries, given = batch*keys, square = channels*channels, groups = batch*heads, span = max(queries, keys)
//@ let wide = ceildiv(channels, COLS), here = ceildiv(asked, ROWS), there = ceildiv(given, ROWS)
//@ scratch f32 q[asked, channels], k[given, channels], v[given, channels], p[batch, heads, queries, keys], o[asked, channels]
//@ scratch f32 cosine[span, pairs], sine[span, pairs]
//@ linear<8, 8><<<(here, wide), 128>>>(x, w_q, q, asked, channels, channels)
//@ linear<8, 8><<<(there, wide), 128>>>(context, w_kv, k, given, channels, channels)
//@ linear<8, 8><<<(there, wide), 128>>>(context, offset(w_kv, square), v, given, channels, channels)
//@ table<<<ceildiv(span*pairs, THREADS), THREADS>>>(inv_freq, cosine, sine, span*pairs, pairs)
//@ turn<<<ceildiv(asked*heads*pairs, THREADS), THREADS>>>(q, cosine, sine, asked*heads*pairs, queries, heads, pairs)
//@ turn<<<ceildiv(given*heads*pairs, THREADS), THREADS>>>(k, cosine, sine, given*heads*pairs, keys, heads, pairs)
//@ logits<<<(groups, ceildiv(queries, ROWS), ceildiv(keys, COLS)), 128>>>(q, k, p, queries, keys, heads, hd)
//@ softmax<<<ceildiv(groups*queries, WARPS), THREADS>>>(p, groups*queries, keys)
//@ if (hd <= 40) gather<5><<<(groups, ceildiv(queries, ROWS), 1), 128>>>(p, v, o, queries, keys, heads, hd)
//@ else gather<8><<<(groups, ceildiv(queries, ROWS), ceildiv(hd, 64)), 128>>>(p, v, o, queries, keys, heads, hd)
//@ linear<8, 8><<<(here, wide), 128>>>(o, w_out, y, asked, channels, channels)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
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

__global__ void table(const float* inv_freq, float* cosine, float* sine, int count, int pairs) {
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    float angle = __fmul_rn((float)(at / pairs), inv_freq[at % pairs]);
    cosine[at] = cosf(angle);
    sine[at] = sinf(angle);
}

// A thread turns one pair.
__global__ void turn(float* v, const float* cosine, const float* sine, size_t count, int length, int heads, int pairs) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t i = at % pairs, head = at / pairs, entry = head / heads % length * pairs + i;
    float* low = v + head * 2 * pairs + i;
    float a = low[0], b = low[pairs];
    low[0] = a * cosine[entry] - b * sine[entry];
    low[pairs] = b * cosine[entry] + a * sine[entry];
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

// A warp for each row of logits.
__global__ void softmax(float* p, size_t rows, int keys) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    float* at = p + row * keys;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < keys; m += 32) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < keys; m += 32) total += expf(at[m] - top);
    total = warp_sum(total);
    for (int m = lane; m < keys; m += 32) at[m] = expf(at[m] - top) / total;
}

// p v of one head in tiles of ROWS x 8 C, 128 threads for each; a thread makes 8 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int queries, int keys, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * 8 * C;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = v + (batch * keys * heads + h) * hd;
    float* to = o + (batch * queries * heads + h) * hd;
    float sum[8][C] = {};
    for (int start = 0; start < keys; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + ROWS; r += 16)
                a[i][r] = row + r < queries && m < keys ? p[((size_t)blockIdx.x * queries + row + r) * keys + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < keys && d < hd ? from[m * step + d] : 0.0f;
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
            if (s < queries && d < hd) to[s * step + d] = sum[r][c];
        }
}
