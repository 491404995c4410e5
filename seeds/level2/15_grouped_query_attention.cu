//@ problem level2/15
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16
//@ let count = batch*len*heads*hd
//@ scratch f32 ks[batch, len, heads, hd], vs[batch, len, heads, hd], p[batch, heads, len, len]
//@ expand<<<ceildiv(count, THREADS), THREADS>>>(k, ks, count, share, hd)
//@ expand<<<ceildiv(count, THREADS), THREADS>>>(v, vs, count, share, hd)
//@ logits<<<(ceildiv(len, TILE), ceildiv(len, TILE), batch*heads), THREADS>>>(q, ks, p, len, heads, hd)
//@ softmax<<<ceildiv(batch*heads*len, WARPS), THREADS>>>(p, batch*heads*len, len)
//@ gather<<<(ceildiv(len, TILE), ceildiv(hd, TILE), batch*heads), THREADS>>>(p, vs, y, len, heads, hd)
#include <cmath>

// Every query head gets its own copy.
__global__ void expand(const float* from, float* to, size_t count, int share, int hd) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = from[i / hd / share * hd + i % hd];
}

// One tile of TILE x TILE logits; a thread makes 4 x 4. Tiles above the diagonal are not needed.
__global__ void logits(const float* q, const float* k, float* p, int len, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    if (column > row) return;
    size_t step = (size_t)heads * hd, from = blockIdx.z / heads * len * step + blockIdx.z % heads * hd;
    float sum[4][4] = {};
    for (int first = 0; first < hd; first += DEPTH) {
        int d = first + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < len && d < hd ? q[from + (row + r) * step + d] : 0.0f;
            b[tx][r] = column + r < len && d < hd ? k[from + (column + r) * step + d] : 0.0f;
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
            int i = row + ty + 16 * r, j = column + tx + 16 * c;
            if (i < len && j < len) p[((size_t)blockIdx.z * len + i) * len + j] = sum[r][c] * factor;
        }
}

// A warp for each row; the rest of the row, up to the end of its tile, becomes 0.
__global__ void softmax(float* p, size_t rows, int len) {
    size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= rows) return;
    int lane = threadIdx.x % 32, i = (int)(r % len), end = min(len, (i / TILE + 1) * TILE);
    float* row = p + r * len;
    float top = -INFINITY, total = 0.0f;
    for (int j = lane; j <= i; j += 32) top = fmaxf(top, row[j]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int j = lane; j <= i; j += 32) total += expf(row[j] - top);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    for (int j = lane; j < end; j += 32) row[j] = j <= i ? expf(row[j] - top) / total : 0.0f;
}

// y = p * v in tiles of TILE x TILE, up to the diagonal.
__global__ void gather(const float* p, const float* v, float* y, int len, int heads, int hd) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    size_t step = (size_t)heads * hd, from = blockIdx.z / heads * len * step + blockIdx.z % heads * hd;
    float sum[4][4] = {};
    for (int first = 0; first < min(len, row + TILE); first += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < len && first + tx < len ? p[((size_t)blockIdx.z * len + row + r) * len + first + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * TILE; t += THREADS) {
            int j = first + t / TILE, d = column + t % TILE;
            b[t / TILE][t % TILE] = j < len && d < hd ? v[from + j * step + d] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty + 16 * r, d = column + tx + 16 * c;
            if (i < len && d < hd) y[from + i * step + d] = sum[r][c];
        }
}
