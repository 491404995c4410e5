//@ problem level2/45
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*height*width, count = places*channels, square = channels*channels
//@ let tiles = ceildiv(places, 128), wide = ceildiv(channels, 64)
//@ scratch f32 x_norm[places, channels], q[places, channels], k[places, channels], v[places, channels], o[places, channels]
//@ scratch f32 change[places, channels], p[places, heads, max(height, width)]
//@ copy(y, x)
//@ for (s = 0; s < 2; ++s) {
//@   let len = s == 0 ? width : height, inner = s == 0 ? 1 : width, groups = places / len * heads
//@   layer_norm<<<ceildiv(places, WARPS), THREADS>>>(y, offset(norm_gain, s*channels), offset(norm_bias, s*channels), x_norm, places, channels)
//@   linear<8, 8, false><<<(tiles, wide), 128>>>(x_norm, offset(w_qkv, 3*s*square), b_out, q, places, channels, channels)
//@   linear<8, 8, false><<<(tiles, wide), 128>>>(x_norm, offset(w_qkv, (3*s + 1)*square), b_out, k, places, channels, channels)
//@   linear<8, 8, false><<<(tiles, wide), 128>>>(x_norm, offset(w_qkv, (3*s + 2)*square), b_out, v, places, channels, channels)
//@   logits<<<(groups, ceildiv(len, ROWS), ceildiv(len, COLS)), 128>>>(q, k, p, len, inner, heads, hd)
//@   softmax<<<ceildiv(places*heads, WARPS), THREADS>>>(p, places*heads, len)
//@   if (hd <= 16) gather<2><<<(groups, ceildiv(len, ROWS), 1), 128>>>(p, v, o, len, inner, heads, hd)
//@   else gather<4><<<(groups, ceildiv(len, ROWS), ceildiv(hd, 32)), 128>>>(p, v, o, len, inner, heads, hd)
//@   linear<8, 8, true><<<(tiles, wide), 128>>>(o, offset(w_out, s*square), offset(b_out, s*channels), change, places, channels, channels)
//@   add<<<ceildiv(count, THREADS), THREADS>>>(y, change, count)
//@ }
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

// Places that attend to each other are `inner` vectors apart; their first head starts here. blockIdx.x counts (line, head).
__device__ size_t first_of(int len, int inner, int heads, int hd) {
    size_t line = blockIdx.x / heads, place = line / inner * len * inner + line % inner;
    return (place * heads + blockIdx.x % heads) * hd;
}

// q k^T / sqrt(hd) of one line and head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int len, int inner, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t first = first_of(len, inner, heads, hd), step = (size_t)inner * heads * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < len && d < hd ? q[first + (row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < len && d < hd ? k[first + (column + c) * step + d] : 0.0f;
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
            if (s < len && m < len) p[((size_t)blockIdx.x * len + s) * len + m] = sum[r][c] * factor;
        }
}

// A warp for each row of logits.
__global__ void softmax(float* p, size_t rows, int len) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    float* at = p + row * len;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < len; m += 32) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < len; m += 32) total += expf(at[m] - top);
    total = warp_sum(total);
    for (int m = lane; m < len; m += 32) at[m] = expf(at[m] - top) / total;
}

// p v of one line and head in tiles of ROWS x 8 C, 128 threads for each; a thread makes 8 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int len, int inner, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * 8 * C;
    size_t first = first_of(len, inner, heads, hd), step = (size_t)inner * heads * hd;
    float sum[8][C] = {};
    for (int start = 0; start < len; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + ROWS; r += 16)
                a[i][r] = row + r < len && m < len ? p[((size_t)blockIdx.x * len + row + r) * len + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < len && d < hd ? v[first + m * step + d] : 0.0f;
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
            if (s < len && d < hd) o[first + s * step + d] = sum[r][c];
        }
}

__global__ void add(float* h, const float* change, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) h[i] += change[i];
}
