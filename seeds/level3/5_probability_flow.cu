//@ problem level3/5
//@ const THREADS = 256, DEPTH = 16, FEW = 4096
//@ let tiles = ceildiv(batch, 128), low = ceildiv(batch, 32), deep = ceildiv(hidden, 64), wide = ceildiv(dim, 64)
//@ scratch f32 timed[batch, dim + 1], a[batch, hidden], c[batch, hidden], v[batch, dim]
//@ copy(y, x)
//@ for (k = 0; k < steps; ++k) {
//@   join<<<ceildiv(batch*(dim + 1), THREADS), THREADS>>>(y, timed, batch*(dim + 1), dim, k, steps)
//@   if (batch <= FEW) linear<2, 8><<<(low, deep), 128>>>(timed, w_in, b_in, a, batch, dim + 1, hidden)
//@   else linear<8, 8><<<(tiles, deep), 128>>>(timed, w_in, b_in, a, batch, dim + 1, hidden)
//@   silu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(a, batch*hidden)
//@   if (batch <= FEW) linear<2, 8><<<(low, deep), 128>>>(a, w_mid, b_mid, c, batch, hidden, hidden)
//@   else linear<8, 8><<<(tiles, deep), 128>>>(a, w_mid, b_mid, c, batch, hidden, hidden)
//@   silu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(c, batch*hidden)
//@   if (batch <= FEW) linear<2, 8><<<(low, wide), 128>>>(c, w_out, b_out, v, batch, hidden, dim)
//@   else linear<8, 8><<<(tiles, wide), 128>>>(c, w_out, b_out, v, batch, hidden, dim)
//@   advance<<<ceildiv(batch*dim, THREADS), THREADS>>>(y, v, batch*dim, steps)
//@ }
#include <cmath>

// Each sample with its time behind it.
__global__ void join(const float* z, float* timed, unsigned count, unsigned dim, int k, int steps) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    unsigned b = i / (dim + 1), c = i % (dim + 1);
    timed[i] = c < dim ? z[b * dim + c] : (k + 0.5f) / steps;
}

// y = x w^T + bias in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + bias[o];
        }
}

__global__ void silu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = v[i] / (1.0f + expf(-v[i]));
}

__global__ void advance(float* z, const float* v, size_t count, int steps) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) z[i] += v[i] / steps;
}
