//@ problem level2/32
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16, NARROW = 32
//@ let places = batch*depth*res, count = places*channels, square = channels*channels, groups = batch*res*heads
//@ let tiles = ceildiv(places, TILE), wide = ceildiv(channels, TILE), deep = ceildiv(depth, TILE)
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], gate[places, channels]
//@ scratch f32 o[places, channels], p[batch, res, heads, depth, depth]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, w_qkv, b_out, q, places, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, square), b_out, k, places, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, 2*square), b_out, v, places, channels)
//@ linear<true><<<(tiles, wide), THREADS>>>(x, w_gate, b_gate, gate, places, channels)
//@ logits<<<(groups, deep, deep), THREADS>>>(q, k, p, depth, res, heads, hd)
//@ softmax<<<ceildiv(groups*depth, WARPS), THREADS>>>(p, mask, groups*depth, depth, res, heads)
//@ gather<<<(groups, deep, ceildiv(hd, NARROW)), THREADS>>>(p, v, o, depth, res, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<true><<<(tiles, wide), THREADS>>>(o, w_out, b_out, y, places, channels)
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
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int width) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    float sum[4][4] = {};
    for (int first = 0; first < width; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < rows && k < width ? x[(size_t)(row + r) * width + k] : 0.0f;
            b[tx][r] = column + r < width && k < width ? w[(size_t)(column + r) * width + k] : 0.0f;
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
            if (i < rows && o < width) y[(size_t)i * width + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}

// The vectors of one column and head start at `first` and are `step` apart. blockIdx.x counts (batch, residue, head).
__device__ size_t first_of(int depth, int res, int heads, int hd) {
    size_t column = blockIdx.x / heads, b = column / res, r = column % res;
    return ((b * depth * res + r) * heads + blockIdx.x % heads) * hd;
}

// q k^T / sqrt(hd) of one column and head in tiles of TILE x TILE; a thread makes 4 x 4.
__global__ void logits(const float* q, const float* k, float* p, int depth, int res, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t first = first_of(depth, res, heads, hd), step = (size_t)res * heads * hd;
    float sum[4][4] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        int d = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < depth && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            b[tx][r] = column + r < depth && d < hd ? k[first + (column + r) * step + d] : 0.0f;
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
            if (s < depth && m < depth) p[((size_t)blockIdx.x * depth + s) * depth + m] = sum[r][c] * factor;
        }
}

// A warp for each row of `depth` logits; rows are ordered (batch, residue, head, sequence).
__global__ void softmax(float* p, const float* mask, size_t rows, int depth, int res, int heads) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    size_t column = row / depth / heads;
    const float* keep = mask + column / res * depth * res + column % res;
    float* at = p + row * depth;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < depth; m += 32)
        if (keep[(size_t)m * res] != 0.0f) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < depth; m += 32) {
        float power = keep[(size_t)m * res] != 0.0f ? expf(at[m] - top) : 0.0f;
        at[m] = power;
        total += power;
    }
    total = warp_sum(total);
    for (int m = lane; m < depth; m += 32) at[m] /= total;
}

// p v of one column and head in tiles of TILE x NARROW; a thread makes 4 x 2.
__global__ void gather(const float* p, const float* v, float* o, int depth, int res, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][NARROW];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * NARROW;
    size_t first = first_of(depth, res, heads, hd), step = (size_t)res * heads * hd;
    float sum[4][2] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < depth && start + tx < depth ? p[((size_t)blockIdx.x * depth + row + r) * depth + start + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * NARROW; t += THREADS) {
            int m = start + t / NARROW, d = column + t % NARROW;
            b[t / NARROW][t % NARROW] = m < depth && d < hd ? v[first + m * step + d] : 0.0f;
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
            if (s < depth && d < hd) o[first + s * step + d] = sum[r][c];
        }
}

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
