//@ problem level2/46
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16, DIGITS = 256
//@ let tiles = ceildiv(n, ROWS), counters = min(n, 16*sm_count)
//@ scratch f32 far[n, n], k[n, n], total[n], score[n, dim], attract[n, dim], means[n, dim]
//@ scratch u32 found[2], counts[DIGITS]
//@ gradients<<<ceildiv(n*dim, THREADS), THREADS>>>(x, center, width, score, n*dim, dim)
//@ distances<<<(tiles, ceildiv(n, COLS)), 128>>>(x, far, n, dim)
//@ zero(found)
//@ for (shift = 24; shift >= 0; shift -= 8) {
//@   zero(counts)
//@   count<<<counters, THREADS>>>(far, found, counts, n, shift)
//@   choose<<<1, 1>>>(counts, found, n, shift)
//@ }
//@ kernel_matrix<<<ceildiv(n*n, THREADS), THREADS>>>(far, found, k, n*n, n)
//@ sums<<<ceildiv(n, WARPS), THREADS>>>(k, total, n)
//@ multiply<<<(tiles, ceildiv(dim, COLS)), 128>>>(k, score, attract, n, dim)
//@ multiply<<<(tiles, ceildiv(dim, COLS)), 128>>>(k, x, means, n, dim)
//@ combine<<<ceildiv(n*dim, THREADS), THREADS>>>(x, attract, means, total, found, phi, n*dim, n, dim)
#include <cmath>

__global__ void gradients(const float* x, const float* center, const float* width, float* score, int count, int dim) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) score[i] = (center[i % dim] - x[i]) / (width[i % dim] * width[i % dim]);
}

// Squared distances in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) distances(const float* x, float* far, int n, int dim) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][8] = {};
    for (int first = 0; first < dim; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, c = first + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < n && c < dim ? x[(size_t)(row + r) * dim + c] : 0.0f;
            for (int r = ty; r < ty + COLS; r += 16) b[i][r] = column + r < n && c < dim ? x[(size_t)(column + r) * dim + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) {
                    float apart = a[i][ty * 8 + r] - b[i][tx + 8 * c];
                    sum[r][c] += apart * apart;
                }
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < n && j < n) far[(size_t)i * n + j] = sum[r][c];
        }
}

// Radix selection, 8 bits a round: how many pairs that begin like found[0] have which next digit. The bits of floats that are
// not negative have the floats' order.
__global__ void count(const float* far, const unsigned* found, unsigned* counts, int n, int shift) {
    __shared__ unsigned own[DIGITS];
    own[threadIdx.x] = 0;
    __syncthreads();
    unsigned begin = found[0];
    for (int i = blockIdx.x; i < n; i += gridDim.x)
        for (int j = i + 1 + threadIdx.x; j < n; j += THREADS) {
            unsigned bits = __float_as_uint(far[(size_t)i * n + j]);
            if (shift == 24 || bits >> (shift + 8) == begin >> (shift + 8)) atomicAdd(&own[bits >> shift & (DIGITS - 1)], 1u);
        }
    __syncthreads();
    if (own[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// found[0] gets its next digit, found[1] counts the pairs below.
__global__ void choose(const unsigned* counts, unsigned* found, int n, int shift) {
    unsigned rank = (unsigned)(((size_t)n * (n - 1) / 2 - 1) / 2), below = found[1];
    int digit = 0;
    while (below + counts[digit] <= rank) below += counts[digit++];
    found[0] |= (unsigned)digit << shift;
    found[1] = below;
}

__device__ float bandwidth(const unsigned* found, int n) { return __uint_as_float(found[0]) / logf(n + 1.0f); }

__global__ void kernel_matrix(const float* far, const unsigned* found, float* k, size_t count, int n) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) k[at] = expf(-far[at] / bandwidth(found, n));
}

// A warp for each row.
__global__ void sums(const float* k, float* total, int n) {
    int i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = lane; j < n; j += 32) sum += k[(size_t)i * n + j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) total[i] = sum;
}

// y = k v in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8.
__global__ void multiply(const float* k, const float* v, float* y, int n, int dim) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][8] = {};
    for (int first = 0; first < n; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, j = first + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < n && j < n ? k[(size_t)(row + r) * n + j] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * COLS; t += 128) {
            int j = first + t / COLS, c = column + t % COLS;
            b[t / COLS][t % COLS] = j < n && c < dim ? v[(size_t)j * dim + c] : 0.0f;
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
            if (i < n && o < dim) y[(size_t)i * dim + o] = sum[r][c];
        }
}

__global__ void combine(const float* x, const float* attract, const float* means, const float* total, const unsigned* found, float* phi,
                        int count, int n, int dim) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) phi[i] = (attract[i] + 2.0f / bandwidth(found, n) * (x[i] * total[i / dim] - means[i])) / n;
}
