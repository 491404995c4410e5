//@ problem level2/11
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 16
//@ scratch f32 weights[out, win], shift[out]
//@ fetch<<<ceildiv(out*win, THREADS), THREADS>>>(peers(w), weights, root, out*win)
//@ fetch<<<ceildiv(out, THREADS), THREADS>>>(peers(bias), shift, root, out)
//@ linear<<<(ceildiv(batch, ROWS), ceildiv(out, COLS)), THREADS>>>(x, weights, shift, y, batch, win, out)
__global__ void fetch(const float* const* from, float* to, int root, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = from[root][i];
}

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
