//@ problem level2/3
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, TILE = 64, DEPTH = 16, NARROW = 32
//@ let asked = batch*queries, given = batch*keys, square = channels*channels, groups = batch*heads, span = max(queries, keys)
//@ let wide = ceildiv(channels, COLS), here = ceildiv(asked, ROWS), there = ceildiv(given, ROWS)
//@ scratch f32 q[asked, channels], k[given, channels], v[given, channels], p[batch, heads, queries, keys], o[asked, channels]
//@ scratch f32 cosine[span, pairs], sine[span, pairs]
//@ linear<<<(here, wide), THREADS>>>(x, w_q, q, asked, channels, channels)
//@ linear<<<(there, wide), THREADS>>>(context, w_kv, k, given, channels, channels)
//@ linear<<<(there, wide), THREADS>>>(context, offset(w_kv, square), v, given, channels, channels)
//@ table<<<ceildiv(span*pairs, THREADS), THREADS>>>(inv_freq, cosine, sine, span*pairs, pairs)
//@ turn<<<ceildiv(asked*heads*pairs, THREADS), THREADS>>>(q, cosine, sine, asked*heads*pairs, queries, heads, pairs)
//@ turn<<<ceildiv(given*heads*pairs, THREADS), THREADS>>>(k, cosine, sine, given*heads*pairs, keys, heads, pairs)
//@ logits<<<(groups, ceildiv(queries, TILE), ceildiv(keys, TILE)), THREADS>>>(q, k, p, queries, keys, heads, hd)
//@ softmax<<<ceildiv(groups*queries, WARPS), THREADS>>>(p, groups*queries, keys)
//@ gather<<<(groups, ceildiv(queries, TILE), ceildiv(hd, NARROW)), THREADS>>>(p, v, o, queries, keys, heads, hd)
//@ linear<<<(here, wide), THREADS>>>(o, w_out, y, asked, channels, channels)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
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

// A warp for each row of logits.
__global__ void softmax(float* p, size_t rows, int keys) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    float* at = p + row * keys;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < keys; m += 32) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < keys; m += 32) {
        float power = expf(at[m] - top);
        at[m] = power;
        total += power;
    }
    total = warp_sum(total);
    for (int m = lane; m < keys; m += 32) at[m] /= total;
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
