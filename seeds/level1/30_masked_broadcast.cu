//@ problem level1/30
//@ const THREADS = 256
//@ send<<<(ceildiv(cols, THREADS), min(rows, 65535)), THREADS>>>(x, mask, y, rows, cols)
// A block writes THREADS neighbouring columns of one row after another.
__global__ void send(const float* x, const bool* mask, float* y, int rows, int cols) {
    int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= cols) return;
    for (size_t i = blockIdx.y; i < rows; i += gridDim.y) y[i * cols + j] = mask[j] ? x[j] : x[i * cols + j];
}
