//@ problem level2/25
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*depth*res, pairs = batch*res*res, products = hidden*hidden, width = res*hidden
//@ let tiles = ceildiv(places, 128), narrow = ceildiv(hidden, 32)
//@ scratch f32 x[places, channels], u[places, hidden], v[places, hidden], m[pairs, products], both[pairs]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<8, 4, true><<<(tiles, narrow), 128>>>(x, w_side, b_side, u, places, channels, hidden)
//@ linear<8, 4, true><<<(tiles, narrow), 128>>>(x, offset(w_side, hidden*channels), offset(b_side, hidden), v, places, channels, hidden)
//@ cover<<<ceildiv(places*hidden, THREADS), THREADS>>>(u, mask, places*hidden, hidden)
//@ cover<<<ceildiv(places*hidden, THREADS), THREADS>>>(v, mask, places*hidden, hidden)
//@ count_both<<<ceildiv(pairs, THREADS), THREADS>>>(mask, both, pairs, depth, res)
//@ outer_mean<<<(ceildiv(width, ROWS), ceildiv(width, COLS), batch), 128>>>(u, v, both, m, depth, res, hidden)
//@ linear<8, 8, true><<<(ceildiv(pairs, 128), ceildiv(edge, 64)), 128>>>(m, w_out, b_out, y, pairs, products, edge)
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

__global__ void cover(float* v, const float* mask, size_t count, int hidden) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= mask[i / hidden];
}

// u^T w / depth in tiles of ROWS x COLS, a thread makes 8 x 8: rows are (i, e), columns (j, f), the inner index is the sequence;
// written in the order (i, j, e, f).
__global__ void outer_mean(const float* u, const float* v, const float* both, float* m, int depth, int res, int hidden) {
    __shared__ __align__(16) float a[DEPTH][ROWS], b[DEPTH][COLS];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS, width = res * hidden;
    size_t first = (size_t)blockIdx.z * depth * width;
    float sum[8][8] = {};
    for (int start = 0; start < depth; start += DEPTH) {
        for (int i = 0; i < DEPTH; ++i) {
            size_t line = first + (size_t)(start + i) * width;
            int c = threadIdx.x;
            a[i][c] = start + i < depth && row + c < width ? u[line + row + c] : 0.0f;
            if (c < COLS) b[i][c] = start + i < depth && column + c < width ? v[line + column + c] : 0.0f;
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
            m[(place * hidden + from % hidden) * hidden + to % hidden] = sum[r][c] / both[place];
        }
}

__global__ void count_both(const float* mask, float* both, size_t pairs, int depth, int res) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= pairs) return;
    size_t j = at % res, i = at / res % res, b = at / res / res;
    float sum = 0.0f;
    for (int s = 0; s < depth; ++s) sum += mask[(b * depth + s) * res + i] * mask[(b * depth + s) * res + j];
    both[at] = fmaxf(sum, 1.0f);
}
