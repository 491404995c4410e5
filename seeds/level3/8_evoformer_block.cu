//@ problem level3/8
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let rows = batch*depth*res, pairs = batch*res*res, count = rows*channels, square = channels*channels, products = hidden*hidden
//@ let lines = batch*depth, groups = lines*heads, high = ceildiv(res, ROWS), deep = ceildiv(res, COLS), area = res*res
//@ let tiles = ceildiv(rows, ROWS), pair_tiles = ceildiv(pairs, ROWS), wide = ceildiv(channels, COLS), broad = ceildiv(edge, COLS), narrow = ceildiv(hidden, 32)
//@ scratch f32 x[rows, channels], q[rows, channels], k[rows, channels], v[rows, channels], gate[rows, channels], o[rows, channels]
//@ scratch f32 p[lines, heads, res, res], u[rows, hidden], w[rows, hidden], m[pairs, products], z[pairs, edge], r[pairs, edge]
//@ scratch f32 a[pairs, hidden], g[pairs, hidden], t[pairs, hidden], t_norm[pairs, hidden], tell[pairs, edge], up[pairs, edge]
//@ scratch f32 a_front[batch, hidden, res, res], g_front[batch, hidden, res, res], t_front[batch, hidden, res, res]
//@ layer_norm<<<ceildiv(rows, WARPS), THREADS>>>(msa, gain_msa, shift_msa, x, rows, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, w_qkv, b_out, q, rows, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, square), b_out, k, rows, channels, channels)
//@ linear<8, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, 2*square), b_out, v, rows, channels, channels)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(x, w_gate, b_gate, gate, rows, channels, channels)
//@ logits<<<(groups, high, deep), 128>>>(q, k, p, res, res, heads, hd)
//@ softmax<<<ceildiv(groups*res, WARPS), THREADS>>>(p, groups*res, res)
//@ if (hd <= 16) gather<2><<<(groups, high, 1), 128>>>(p, v, o, res, res, heads, hd)
//@ else gather<4><<<(groups, high, ceildiv(hd, 32)), 128>>>(p, v, o, res, res, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<8, 8, true><<<(tiles, wide), 128>>>(o, w_out, b_out, x, rows, channels, channels)
//@ add<<<ceildiv(count, THREADS), THREADS>>>(msa, x, msa_out, count)
//@ layer_norm<<<ceildiv(rows, WARPS), THREADS>>>(msa_out, offset(gain_msa, channels), offset(shift_msa, channels), x, rows, channels)
//@ linear<8, 4, true><<<(tiles, narrow), 128>>>(x, w_side, b_side, u, rows, channels, hidden)
//@ linear<8, 4, true><<<(tiles, narrow), 128>>>(x, offset(w_side, hidden*channels), offset(b_side, hidden), w, rows, channels, hidden)
//@ outer_mean<<<(ceildiv(res*hidden, ROWS), ceildiv(res*hidden, COLS), batch), 128>>>(u, w, m, depth, res, hidden)
//@ linear<8, 8, true><<<(pair_tiles, broad), 128>>>(m, w_mean, b_mean, up, pairs, products, edge)
//@ add<<<ceildiv(pairs*edge, THREADS), THREADS>>>(pair, up, z, pairs*edge)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, gain_pair, shift_pair, r, pairs, edge)
//@ linear<8, 4, true><<<(pair_tiles, narrow), 128>>>(r, w_tri, b_tri, a, pairs, edge, hidden)
//@ linear<8, 4, true><<<(pair_tiles, narrow), 128>>>(r, offset(w_tri, hidden*edge), offset(b_tri, hidden), g, pairs, edge, hidden)
//@ transpose<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(a, a_front, area, hidden)
//@ transpose<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(g, g_front, area, hidden)
//@ triangle<<<(batch*hidden, high, deep), 128>>>(a_front, g_front, t_front, res)
//@ transpose_back<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(t_front, t, area, hidden)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(t, gain_tri, shift_tri, t_norm, pairs, hidden)
//@ linear<8, 8, true><<<(pair_tiles, broad), 128>>>(t_norm, w_up, b_up, up, pairs, hidden, edge)
//@ linear<8, 8, true><<<(pair_tiles, broad), 128>>>(r, w_tell, b_tell, tell, pairs, edge, edge)
//@ multiply<<<ceildiv(pairs*edge, THREADS), THREADS>>>(up, tell, pairs*edge)
//@ add<<<ceildiv(pairs*edge, THREADS), THREADS>>>(z, up, pair_out, pairs*edge)
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

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}

__global__ void add(const float* old, const float* more, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] = old[i] + more[i];
}

// u^T w / depth in tiles of ROWS x COLS, a thread makes 8 x 8: rows are (i, e), columns (j, f), the inner index is the sequence;
// written in the order (i, j, e, f).
__global__ void outer_mean(const float* u, const float* w, float* m, int depth, int res, int hidden) {
    __shared__ __align__(16) float a[DEPTH][ROWS], b[DEPTH][COLS];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS, width = res * hidden;
    size_t first = (size_t)blockIdx.z * depth * width;
    float sum[8][8] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        for (int i = 0; i < DEPTH; ++i) {
            size_t line = first + (size_t)(start + i) * width;
            int c = threadIdx.x;
            a[i][c] = start + i < depth && row + c < width ? u[line + row + c] : 0.0f;
            if (c < COLS) b[i][c] = start + i < depth && column + c < width ? w[line + column + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < DEPTH; ++k)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[k][ty * 8 + r] * b[k][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int from = row + ty * 8 + r, to = column + tx + 8 * c;
            if (from >= width || to >= width) continue;
            size_t place = ((size_t)blockIdx.z * res + from / hidden) * res + to / hidden;
            m[(place * hidden + from % hidden) * hidden + to % hidden] = sum[r][c] / depth;
        }
}

// [batch, pairs, hidden] to [batch, hidden, pairs].
__global__ void transpose(const float* from, float* to, int pairs, int hidden) {
    __shared__ float tile[32][33];
    int p = blockIdx.x * 32, h = blockIdx.y * 32, x = threadIdx.x;
    size_t first = (size_t)blockIdx.z * pairs * hidden;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + y < pairs && h + x < hidden) tile[y][x] = from[first + (size_t)(p + y) * hidden + h + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + x < pairs && h + y < hidden) to[first + (size_t)(h + y) * pairs + p + x] = tile[x][y];
}

// [batch, hidden, pairs] to [batch, pairs, hidden].
__global__ void transpose_back(const float* from, float* to, int pairs, int hidden) {
    __shared__ float tile[32][33];
    int p = blockIdx.x * 32, h = blockIdx.y * 32, x = threadIdx.x;
    size_t first = (size_t)blockIdx.z * pairs * hidden;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + x < pairs && h + y < hidden) tile[y][x] = from[first + (size_t)(h + y) * pairs + p + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + y < pairs && h + x < hidden) to[first + (size_t)(p + y) * hidden + h + x] = tile[x][y];
}

// t = a g^T for each matrix of n x n in tiles of ROWS x COLS; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) triangle(const float* a, const float* g, float* t, int n) {
    __shared__ __align__(16) float u[DEPTH][ROWS + 4], v[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t first = (size_t)blockIdx.x * n * n;
    float sum[8][8] = {};
    for (int start = 0; start < n; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) u[i][r] = row + r < n && k < n ? a[first + (size_t)(row + r) * n + k] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) v[i][c] = column + c < n && k < n ? g[first + (size_t)(column + c) * n + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += u[i][ty * 8 + r] * v[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < n && j < n) t[first + (size_t)i * n + j] = sum[r][c];
        }
}
