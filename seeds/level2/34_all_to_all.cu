//@ problem level2/34
//@ const THREADS = 128
//@ let wide = ceildiv(cols, THREADS)
//@ scratch f32 sent[ranks, rows, cols], got[ranks, rows, cols]
//@ scale<<<(ranks*rows, wide), THREADS>>>(x, gain, sent, cols)
//@ exchange<<<(rows, wide, ranks), THREADS>>>(peers(sent), got, rows, cols, rank)
//@ permute<<<(ranks*rows, wide), THREADS>>>(got, order, y, cols)
__global__ void scale(const float* x, const float* gain, float* sent, int cols) {
    size_t row = blockIdx.x;
    int c = blockIdx.y * THREADS + threadIdx.x;
    if (c < cols) sent[row * cols + c] = gain[c] * x[row * cols + c];
}

// Block q comes from rank q, where it stands at this rank's number.
__global__ void exchange(const float* const* sent, float* got, int rows, int cols, int rank) {
    size_t row = blockIdx.x, q = blockIdx.z;
    int c = blockIdx.y * THREADS + threadIdx.x;
    if (c < cols) got[(q * rows + row) * cols + c] = sent[q][((size_t)rank * rows + row) * cols + c];
}

__global__ void permute(const float* got, const int* order, float* y, int cols) {
    size_t row = blockIdx.x;
    int c = blockIdx.y * THREADS + threadIdx.x;
    if (c < cols) y[row * cols + c] = got[(size_t)order[row] * cols + c];
}
