//@ problem level3/8
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, TILE = 64, DEPTH = 16, NARROW = 32
//@ let rows = batch*depth*res, pairs = batch*res*res, count = rows*channels, square = channels*channels, products = hidden*hidden
//@ let lines = batch*depth, groups = lines*heads, deep = ceildiv(res, TILE), side = ceildiv(res*hidden, TILE), area = res*res
//@ let tiles = ceildiv(rows, ROWS), pair_tiles = ceildiv(pairs, ROWS), wide = ceildiv(channels, COLS), broad = ceildiv(edge, COLS), narrow = ceildiv(hidden, COLS)
//@ scratch f32 x[rows, channels], q[rows, channels], k[rows, channels], v[rows, channels], gate[rows, channels], o[rows, channels]
//@ scratch f32 p[lines, heads, res, res], u[rows, hidden], w[rows, hidden], m[pairs, products], z[pairs, edge], r[pairs, edge]
//@ scratch f32 a[pairs, hidden], g[pairs, hidden], t[pairs, hidden], t_norm[pairs, hidden], tell[pairs, edge], up[pairs, edge]
//@ scratch f32 a_front[batch, hidden, res, res], g_front[batch, hidden, res, res], t_front[batch, hidden, res, res]
//@ layer_norm<<<ceildiv(rows, WARPS), THREADS>>>(msa, gain_msa, shift_msa, x, rows, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, w_qkv, b_out, q, rows, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, square), b_out, k, rows, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, 2*square), b_out, v, rows, channels, channels)
//@ linear<true><<<(tiles, wide), THREADS>>>(x, w_gate, b_gate, gate, rows, channels, channels)
//@ logits<<<(groups, deep, deep), THREADS>>>(q, k, p, res, res, heads, hd)
//@ softmax<<<ceildiv(groups*res, WARPS), THREADS>>>(p, groups*res, res)
//@ gather<<<(groups, deep, ceildiv(hd, NARROW)), THREADS>>>(p, v, o, res, res, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<true><<<(tiles, wide), THREADS>>>(o, w_out, b_out, x, rows, channels, channels)
//@ add<<<ceildiv(count, THREADS), THREADS>>>(msa, x, msa_out, count)
//@ layer_norm<<<ceildiv(rows, WARPS), THREADS>>>(msa_out, offset(gain_msa, channels), offset(shift_msa, channels), x, rows, channels)
//@ linear<true><<<(tiles, narrow), THREADS>>>(x, w_side, b_side, u, rows, channels, hidden)
//@ linear<true><<<(tiles, narrow), THREADS>>>(x, offset(w_side, hidden*channels), offset(b_side, hidden), w, rows, channels, hidden)
//@ outer_mean<<<(side, side, batch), THREADS>>>(u, w, m, depth, res, hidden)
//@ linear<true><<<(pair_tiles, broad), THREADS>>>(m, w_mean, b_mean, up, pairs, products, edge)
//@ add<<<ceildiv(pairs*edge, THREADS), THREADS>>>(pair, up, z, pairs*edge)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, gain_pair, shift_pair, r, pairs, edge)
//@ linear<true><<<(pair_tiles, narrow), THREADS>>>(r, w_tri, b_tri, a, pairs, edge, hidden)
//@ linear<true><<<(pair_tiles, narrow), THREADS>>>(r, offset(w_tri, hidden*edge), offset(b_tri, hidden), g, pairs, edge, hidden)
//@ transpose<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(a, a_front, area, hidden)
//@ transpose<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(g, g_front, area, hidden)
//@ triangle<<<(batch*hidden, deep, deep), THREADS>>>(a_front, g_front, t_front, res)
//@ transpose_back<<<(ceildiv(area, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(t_front, t, area, hidden)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(t, gain_tri, shift_tri, t_norm, pairs, hidden)
//@ linear<true><<<(pair_tiles, broad), THREADS>>>(t_norm, w_up, b_up, up, pairs, hidden, edge)
//@ linear<true><<<(pair_tiles, broad), THREADS>>>(r, w_tell, b_tell, tell, pairs, edge, edge)
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

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}

__global__ void add(const float* old, const float* more, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] = old[i] + more[i];
}

// u^T w / depth: rows are (i, e), columns (j, f), the inner index is the sequence; written in the order (i, j, e, f).
__global__ void outer_mean(const float* u, const float* w, float* m, int depth, int res, int hidden) {
    __shared__ float a[DEPTH][TILE], b[DEPTH][TILE];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * TILE, width = res * hidden;
    size_t first = (size_t)blockIdx.z * depth * width;
    float sum[4][4] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        for (int s = threadIdx.x; s < DEPTH * TILE; s += THREADS) {
            int k = start + s / TILE, c = s % TILE;
            a[s / TILE][c] = k < depth && row + c < width ? u[first + (size_t)k * width + row + c] : 0.0f;
            b[s / TILE][c] = k < depth && column + c < width ? w[first + (size_t)k * width + column + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[k][ty + 16 * r] * b[k][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int from = row + ty + 16 * r, to = column + tx + 16 * c;
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

// t = a g^T for each matrix of n x n.
__global__ void triangle(const float* a, const float* g, float* t, int n) {
    __shared__ float u[DEPTH][TILE + 1], v[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t first = (size_t)blockIdx.x * n * n;
    float sum[4][4] = {};
    for (int start = 0; start < n; start += DEPTH) {
        int k = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            u[tx][r] = row + r < n && k < n ? a[first + (size_t)(row + r) * n + k] : 0.0f;
            v[tx][r] = column + r < n && k < n ? g[first + (size_t)(column + r) * n + k] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += u[i][ty + 16 * r] * v[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c)
            if (row + ty + 16 * r < n && column + tx + 16 * c < n)
                t[first + (size_t)(row + ty + 16 * r) * n + column + tx + 16 * c] = sum[r][c];
}
