//@ problem level2/15
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let count = batch*len*heads*hd
//@ scratch f32 ks[batch, len, heads, hd], vs[batch, len, heads, hd], p[batch, heads, len, len]
//@ expand<<<ceildiv(count, THREADS), THREADS>>>(k, ks, count, share, hd)
//@ expand<<<ceildiv(count, THREADS), THREADS>>>(v, vs, count, share, hd)
//@ logits<<<(ceildiv(len, COLS), ceildiv(len, ROWS), batch*heads), 128>>>(q, ks, p, len, heads, hd)
//@ softmax<<<ceildiv(batch*heads*len, WARPS), THREADS>>>(p, batch*heads*len, len)
//@ gather<<<(ceildiv(len, 64), ceildiv(hd, 64), batch*heads), 128>>>(p, vs, y, len, heads, hd)
#include <cmath>

// Every query head gets its own copy.
__global__ void expand(const float* from, float* to, size_t count, int share, int hd) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = from[i / hd / share * hd + i % hd];
}

// q k^T / sqrt(hd) of one head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8. Tiles above the diagonal
// are not needed.
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int len, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    if (column >= row + ROWS) return;
    size_t step = (size_t)heads * hd, from = blockIdx.z / heads * len * step + blockIdx.z % heads * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < len && d < hd ? q[from + (row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < len && d < hd ? k[from + (column + c) * step + d] : 0.0f;
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
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < len && j < len) p[((size_t)blockIdx.z * len + i) * len + j] = sum[r][c] * factor;
        }
}

// A warp for each row; the rest of the row, up to the end of the 64 that `gather` reads, becomes 0.
__global__ void softmax(float* p, size_t rows, int len) {
    size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= rows) return;
    int lane = threadIdx.x % 32, i = (int)(r % len), end = min(len, (i / 64 + 1) * 64);
    float* row = p + r * len;
    float top = -INFINITY, total = 0.0f;
    for (int j = lane; j <= i; j += 32) top = fmaxf(top, row[j]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int j = lane; j <= i; j += 32) total += expf(row[j] - top);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    for (int j = lane; j < end; j += 32) row[j] = j <= i ? expf(row[j] - top) / total : 0.0f;
}

// p v of one head in tiles of 64 x 64, up to the diagonal; a thread makes 4 x 8.
__global__ void gather(const float* p, const float* v, float* y, int len, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][64 + 4], b[DEPTH][64];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * 64, column = blockIdx.y * 64, end = min(len, row + 64);
    size_t step = (size_t)heads * hd, from = blockIdx.z / heads * len * step + blockIdx.z % heads * hd;
    const float* own = p + (size_t)blockIdx.z * len * len;
    float sum[4][8] = {};
    for (int start = 0; start < end; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, j = start + i;
            for (int r = ty; r < ty + 64; r += 16) a[i][r] = row + r < len && j < end ? own[(size_t)(row + r) * len + j] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 64; t += 128) {
            int j = start + t / 64, d = column + t % 64;
            b[t / 64][t % 64] = j < end && d < hd ? v[from + j * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[i][ty * 4 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 4 + r, d = column + tx + 8 * c;
            if (i < len && d < hd) y[from + i * step + d] = sum[r][c];
        }
}
