//@ problem level2/47
//@ const THREADS = 256, DEPTH = 16
//@ scratch f32 all[batch, joined]
//@ gather<<<ceildiv(batch*joined, THREADS), THREADS>>>(x, all, batch*joined, ranks, batch, hidden)
//@ linear<8, 8><<<(ceildiv(batch, 128), ceildiv(out, 64)), 128>>>(all, w, bias, y, batch, joined, out)

// The features of a row, rank after rank.
__global__ void gather(const float* x, float* all, size_t count, int ranks, int batch, int hidden) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t c = i % hidden, r = i / hidden % ranks, b = i / hidden / ranks;
    all[i] = x[(r * batch + b) * hidden + c];
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
