//@ problem level2/6
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16, NARROW = 32
//@ let pairs = batch*n*n, count = pairs*channels, square = channels*channels, groups = batch*n*heads
//@ let tiles = ceildiv(pairs, TILE), wide = ceildiv(channels, TILE), deep = ceildiv(n, TILE)
//@ scratch f32 x[pairs, channels], q[pairs, channels], k[pairs, channels], v[pairs, channels], gate[pairs, channels]
//@ scratch f32 o[pairs, channels], third[pairs, heads], third_front[batch, heads, n, n], p[batch, n, heads, n, n]
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, norm_gain, norm_bias, x, pairs, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, w_qkv, b_out, q, pairs, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, square), b_out, k, pairs, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, 2*square), b_out, v, pairs, channels, channels)
//@ linear<true><<<(tiles, wide), THREADS>>>(x, w_gate, b_gate, gate, pairs, channels, channels)
//@ to_heads<<<ceildiv(pairs, WARPS), THREADS>>>(x, w_bias, third, pairs, channels, heads)
//@ transpose<<<ceildiv(pairs*heads, THREADS), THREADS>>>(third, third_front, n*n, heads, pairs*heads)
//@ logits<<<(groups, deep, deep), THREADS>>>(q, k, p, n, heads, hd)
//@ add<<<(groups, ceildiv(n*n, THREADS)), THREADS>>>(p, third_front, n, heads)
//@ softmax<<<ceildiv(groups*n, WARPS), THREADS>>>(p, mask, groups*n, n, heads)
//@ gather<<<(groups, deep, ceildiv(hd, NARROW)), THREADS>>>(p, v, o, n, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<true><<<(tiles, wide), THREADS>>>(o, w_out, b_out, y, pairs, channels, channels)
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

// y = x w^T (+ bias) in tiles of TILE x TILE; a thread makes 4 x 4.
template <bool BIAS>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    float sum[4][4] = {};
    for (int first = 0; first < in; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            b[tx][r] = column + r < out && k < in ? w[(size_t)(column + r) * in + k] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty + 16 * r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}

// A few outputs only: a warp for each vector, whose lanes share every dot product.
__global__ void to_heads(const float* x, const float* w, float* third, int rows, int channels, int heads) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    for (int h = 0; h < heads; ++h) {
        float sum = 0.0f;
        for (int c = lane; c < channels; c += 32) sum += x[(size_t)r * channels + c] * w[(size_t)h * channels + c];
        sum = warp_sum(sum);
        if (lane == 0) third[(size_t)r * heads + h] = sum;
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

// q k^T / sqrt(hd) of one residue and head in tiles of TILE x TILE; a thread makes 4 x 4.
__global__ void logits(const float* q, const float* k, float* p, int n, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t first = first_of(n, heads, hd), step = (size_t)heads * hd;
    float sum[4][4] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        int d = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < n && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            b[tx][r] = column + r < n && d < hd ? k[first + (column + r) * step + d] : 0.0f;
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
            int j = row + ty + 16 * r, m = column + tx + 16 * c;
            if (j < n && m < n) p[((size_t)blockIdx.x * n + j) * n + m] = sum[r][c] * factor;
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
    for (int m = lane; m < n; m += 32) {
        float power = keep[m] != 0.0f ? expf(at[m] - top) : 0.0f;
        at[m] = power;
        total += power;
    }
    total = warp_sum(total);
    for (int m = lane; m < n; m += 32) at[m] /= total;
}

// p v of one residue and head in tiles of TILE x NARROW; a thread makes 4 x 2.
__global__ void gather(const float* p, const float* v, float* o, int n, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][NARROW];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * NARROW;
    size_t first = first_of(n, heads, hd), step = (size_t)heads * hd;
    float sum[4][2] = {};
    for (int start = 0; start < n; start += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < n && start + tx < n ? p[((size_t)blockIdx.x * n + row + r) * n + start + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * NARROW; t += THREADS) {
            int m = start + t / NARROW, d = column + t % NARROW;
            b[t / NARROW][t % NARROW] = m < n && d < hd ? v[first + m * step + d] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) {
            int j = row + ty + 16 * r, d = column + tx + 16 * c;
            if (j < n && d < hd) o[first + j * step + d] = sum[r][c];
        }
}

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
