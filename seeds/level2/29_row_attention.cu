//@ problem level2/29
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16, NARROW = 32
//@ let places = batch*depth*res, count = places*channels, square = channels*channels, groups = batch*depth*heads
//@ let tiles = ceildiv(places, TILE), wide = ceildiv(channels, TILE), deep = ceildiv(res, TILE), pairs = batch*res*res
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], gate[places, channels]
//@ scratch f32 o[places, channels], bias[pairs, heads], bias_front[batch, heads, res, res], p[batch, depth, heads, res, res]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, w_qkv, b_out, q, places, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, square), b_out, k, places, channels, channels)
//@ linear<false><<<(tiles, wide), THREADS>>>(x, offset(w_qkv, 2*square), b_out, v, places, channels, channels)
//@ linear<true><<<(tiles, wide), THREADS>>>(x, w_gate, b_gate, gate, places, channels, channels)
//@ to_heads<<<ceildiv(pairs, WARPS), THREADS>>>(pair, w_bias, bias, pairs, edge, heads)
//@ transpose<<<ceildiv(pairs*heads, THREADS), THREADS>>>(bias, bias_front, res*res, heads, pairs*heads)
//@ logits<<<(groups, deep, deep), THREADS>>>(q, k, p, res, heads, hd)
//@ add<<<(groups, ceildiv(res*res, THREADS)), THREADS>>>(p, bias_front, depth, res, heads)
//@ softmax<<<ceildiv(groups*res, WARPS), THREADS>>>(p, mask, groups*res, res, heads)
//@ gather<<<(groups, deep, ceildiv(hd, NARROW)), THREADS>>>(p, v, o, res, heads, hd)
//@ multiply<<<ceildiv(count, THREADS), THREADS>>>(o, gate, count)
//@ linear<true><<<(tiles, wide), THREADS>>>(o, w_out, b_out, y, places, channels, channels)
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
__global__ void to_heads(const float* x, const float* w, float* bias, int rows, int edge, int heads) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    for (int h = 0; h < heads; ++h) {
        float sum = 0.0f;
        for (int c = lane; c < edge; c += 32) sum += x[(size_t)r * edge + c] * w[(size_t)h * edge + c];
        sum = warp_sum(sum);
        if (lane == 0) bias[(size_t)r * heads + h] = sum;
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

// q k^T / sqrt(hd) of one sequence and head in tiles of TILE x TILE; a thread makes 4 x 4.
__global__ void logits(const float* q, const float* k, float* p, int res, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t first = first_of(res, heads, hd), step = (size_t)heads * hd;
    float sum[4][4] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        int d = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < res && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            b[tx][r] = column + r < res && d < hd ? k[first + (column + r) * step + d] : 0.0f;
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
            int own = row + ty + 16 * r, m = column + tx + 16 * c;
            if (own < res && m < res) p[((size_t)blockIdx.x * res + own) * res + m] = sum[r][c] * factor;
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
    for (int m = lane; m < res; m += 32) {
        float power = keep[m] != 0.0f ? expf(at[m] - top) : 0.0f;
        at[m] = power;
        total += power;
    }
    total = warp_sum(total);
    for (int m = lane; m < res; m += 32) at[m] /= total;
}

// p v of one sequence and head in tiles of TILE x NARROW; a thread makes 4 x 2.
__global__ void gather(const float* p, const float* v, float* o, int res, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][NARROW];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * NARROW;
    size_t first = first_of(res, heads, hd), step = (size_t)heads * hd;
    float sum[4][2] = {};
    for (int start = 0; start < res; start += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < res && start + tx < res ? p[((size_t)blockIdx.x * res + row + r) * res + start + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * NARROW; t += THREADS) {
            int m = start + t / NARROW, d = column + t % NARROW;
            b[t / NARROW][t % NARROW] = m < res && d < hd ? v[first + m * step + d] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) {
            int own = row + ty + 16 * r, d = column + tx + 16 * c;
            if (own < res && d < hd) o[first + own * step + d] = sum[r][c];
        }
}

__global__ void multiply(float* v, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
