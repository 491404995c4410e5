//@ problem level3/2
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 16
//@ let tiles = ceildiv(batch, ROWS), deep = ceildiv(hidden, COLS)
//@ scratch f32 timed[batch, dim + 1], a[batch, hidden], c[batch, hidden], eps[batch, dim]
//@ copy(y, x)
//@ for (k = 0; k < steps; ++k) {
//@   join<<<ceildiv(batch*(dim + 1), THREADS), THREADS>>>(y, start, timed, batch*(dim + 1), dim, k, times)
//@   linear<true><<<(tiles, deep), THREADS>>>(timed, w_in, b_in, a, batch, dim + 1, hidden)
//@   silu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(a, batch*hidden)
//@   linear<true><<<(tiles, deep), THREADS>>>(a, w_mid, b_mid, c, batch, hidden, hidden)
//@   silu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(c, batch*hidden)
//@   linear<true><<<(tiles, ceildiv(dim, COLS)), THREADS>>>(c, w_out, b_out, eps, batch, hidden, dim)
//@   step_back<<<ceildiv(batch*dim, THREADS), THREADS>>>(y, eps, start, beta, sigma, batch*dim, dim, k)
//@ }
#include <cmath>

__device__ int time_of(long long start, int k) { return (int)(start > k ? start - k : 0); }

// Each sample with its time behind it.
__global__ void join(const float* z, const long long* start, float* timed, size_t count, int dim, int k, int times) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t b = i / (dim + 1), c = i % (dim + 1);
    timed[i] = c < dim ? z[b * dim + c] : (float)time_of(start[b], k) / times;
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

__global__ void silu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = v[i] / (1.0f + expf(-v[i]));
}

__global__ void step_back(float* z, const float* eps, const long long* start, const float* beta, const float* sigma,
                          size_t count, int dim, int k) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int t = time_of(start[i / dim], k);
    z[i] = (z[i] - beta[t] / sigma[t] * eps[i]) / sqrtf(1.0f - beta[t]);
}
