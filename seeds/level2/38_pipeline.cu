//@ problem level2/38
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 16
//@ let rows = ceildiv(batch, ROWS), inner = batch*hidden, outer = batch*out
//@ scratch f32 h[batch, hidden], got[batch, hidden], z[batch, out]
//@ linear<<<(rows, ceildiv(hidden, COLS)), THREADS>>>(x, w1, b1, h, batch, win, hidden)
//@ silu<<<ceildiv(inner, THREADS), THREADS>>>(h, inner)
//@ take<<<ceildiv(inner, THREADS), THREADS>>>(peers(h), got, (rank + ranks - 1) % ranks, inner)
//@ linear<<<(rows, ceildiv(out, COLS)), THREADS>>>(got, w2, b2, z, batch, hidden, out)
//@ take<<<ceildiv(outer, THREADS), THREADS>>>(peers(z), y, (rank + 1) % ranks, outer)

// y = x w^T + bias in tiles of ROWS x COLS; a thread makes 8 x 4.
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + bias[o];
        }
}

__global__ void silu(float* h, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) h[i] = h[i] / (1.0f + expf(-h[i]));
}

__global__ void take(const float* const* from, float* to, int rank, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = from[rank][i];
}
