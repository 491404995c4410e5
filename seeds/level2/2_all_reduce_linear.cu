//@ problem level2/2
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 16
//@ let count = batch*out, chunk = ceildiv(batch*out, ranks)
//@ scratch f32 part[batch, out], total[chunk]
//@ linear<<<(ceildiv(batch, ROWS), ceildiv(out, COLS)), THREADS>>>(x, w, part, batch, win, out)
//@ reduce<<<ceildiv(chunk, THREADS), THREADS>>>(peers(part), bias, total, rank*chunk, chunk, count, ranks, out)
//@ collect<<<(ceildiv(chunk, THREADS), ranks), THREADS>>>(peers(total), y, chunk, count)

// y = x w^T in tiles of ROWS x COLS; a thread makes 8 x 4.
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c];
        }
}

// Each rank adds up its chunk of the result.
__global__ void reduce(const float* const* part, const float* bias, float* total, size_t first, size_t chunk,
                       size_t count, int ranks, int out) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, i = first + at;
    if (at >= chunk || i >= count) return;
    float sum = bias[i % out];
    for (int q = 0; q < ranks; ++q) sum += part[q][i];
    total[at] = sum;
}

__global__ void collect(const float* const* total, float* y, size_t chunk, size_t count) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, i = blockIdx.y * chunk + at;
    if (at < chunk && i < count) y[i] = total[blockIdx.y][at];
}
