//@ problem level1/27
//@ const THREADS = 256
//@ permute<<<(ceildiv(cols, THREADS), min(rows, 65535)), THREADS>>>(x, source, y, rows, cols)
// A block writes THREADS neighbouring columns of one row after another; the reads of a row stay in the cache.
__global__ void permute(const float* x, const int* source, float* y, int rows, int cols) {
    int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= cols) return;
    int from = source[j];
    for (size_t i = blockIdx.y; i < rows; i += gridDim.y) y[i * cols + j] = x[i * cols + from];
}
