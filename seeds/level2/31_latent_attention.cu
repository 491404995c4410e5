//@ problem level2/31
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*len, groups = batch*heads, high = ceildiv(len, ROWS), deep = ceildiv(len, COLS)
//@ scratch f32 k[batch, len, channels], v[batch, len, channels], p[batch, heads, len, len]
//@ expand<<<(ceildiv(places, ROWS), ceildiv(channels, COLS)), 128>>>(latent, w_key, k, places, latents, channels)
//@ expand<<<(ceildiv(places, ROWS), ceildiv(channels, COLS)), 128>>>(latent, w_value, v, places, latents, channels)
//@ logits<<<(groups, high, deep), 128>>>(q, k, p, len, heads, hd)
//@ softmax<<<ceildiv(groups*len, WARPS), THREADS>>>(p, groups*len, len)
//@ if (hd <= 16) gather<2><<<(groups, high, 1), 128>>>(p, v, y, len, heads, hd)
//@ else gather<8><<<(groups, high, ceildiv(hd, 64)), 128>>>(p, v, y, len, heads, hd)
#include <cmath>

// y = x w in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void expand(const float* x, const float* w, float* y, int rows, int in, int out) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][8] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * COLS; t += 128) {
            int k = first + t / COLS, o = column + t % COLS;
            b[t / COLS][t % COLS] = k < in && o < out ? w[(size_t)k * out + o] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, o = column + tx + 8 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c];
        }
}

// The vectors of one sequence and head start here and are heads*hd apart. blockIdx.x counts (batch, head).
__device__ size_t first_of(int len, int heads, int hd) {
    return ((size_t)(blockIdx.x / heads) * len * heads + blockIdx.x % heads) * hd;
}

// q k^T / sqrt(hd) of one sequence and head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8. Tiles
// above the diagonal are not needed.
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int len, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    if (column >= row + ROWS) return;
    size_t first = first_of(len, heads, hd), step = (size_t)heads * hd;
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

// A warp for each row; the rest of the row, up to the end of its tile, becomes 0.
__global__ void softmax(float* p, size_t rows, int len) {
    size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= rows) return;
    int lane = threadIdx.x % 32, i = (int)(r % len), end = min(len, (i / ROWS + 1) * ROWS);
    float* row = p + r * len;
    float top = -INFINITY, total = 0.0f;
    for (int j = lane; j <= i; j += 32) top = fmaxf(top, row[j]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int j = lane; j <= i; j += 32) total += expf(row[j] - top);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    for (int j = lane; j < end; j += 32) row[j] = j <= i ? expf(row[j] - top) / total : 0.0f;
}

// p v of one sequence and head, up to the diagonal, in tiles of ROWS x 8 C, 128 threads for each; a thread makes 8 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int len, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * 8 * C;
    size_t first = first_of(len, heads, hd), step = (size_t)heads * hd;
    float sum[8][C] = {};
    for (int start = 0; start < min(len, row + ROWS); start += DEPTH) {
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
