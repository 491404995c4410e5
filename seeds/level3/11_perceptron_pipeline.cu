//@ problem level3/11
//@ const THREADS = 256, DEPTH = 16
//@ let tiles = ceildiv(batch, 128)
//@ scratch f32 a[batch, d_a], c[batch, d_c]
//@ linear<8, 8><<<(tiles, ceildiv(d_a, 64)), 128>>>(x, w_first, a, batch, d_in, d_a)
//@ silu<<<ceildiv(batch*d_a, THREADS), THREADS>>>(a, batch*d_a)
//@ linear<8, 8><<<(tiles, ceildiv(d_c, 64)), 128>>>(a, w_second, c, batch, d_a, d_c)
//@ silu<<<ceildiv(batch*d_c, THREADS), THREADS>>>(c, batch*d_c)
//@ linear<8, 8><<<(tiles, ceildiv(d_out, 64)), 128>>>(c, w_third, y, batch, d_c, d_out)
#include <cmath>

// y = x w^T in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c];
        }
}

__global__ void silu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = v[i] / (1.0f + expf(-v[i]));
}
