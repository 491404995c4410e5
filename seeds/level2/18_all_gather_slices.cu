//@ problem level2/18
//@ const THREADS = 128, WARPS = THREADS / 32
//@ scratch f32 part[rows], own[rows, cols]
//@ squares<<<ceildiv(rows, WARPS), THREADS>>>(x, part, rows, cols)
//@ scale<<<(rows, ceildiv(cols, THREADS)), THREADS>>>(x, gain, peers(part), own, cols, ranks)
//@ gather<<<(rows, ceildiv(cols, THREADS), ranks), THREADS>>>(peers(own), y, cols, ranks)
// A warp for each row of the slice.
__global__ void squares(const float* x, float* part, int rows, int cols) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = lane; c < cols; c += 32) sum += x[(size_t)row * cols + c] * x[(size_t)row * cols + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) part[row] = sum;
}

__global__ void scale(const float* x, const float* gain, const float* const* part, float* own, int cols, int ranks) {
    size_t row = blockIdx.x;
    int c = blockIdx.y * THREADS + threadIdx.x;
    if (c >= cols) return;
    float sum = 0.0f;
    for (int q = 0; q < ranks; ++q) sum += part[q][row];
    own[row * cols + c] = gain[c] * x[row * cols + c] / sqrtf(sum / ((float)ranks * cols) + 1e-5f);
}

__global__ void gather(const float* const* own, float* y, int cols, int ranks) {
    size_t row = blockIdx.x;
    int c = blockIdx.y * THREADS + threadIdx.x, q = blockIdx.z;
    if (c < cols) y[(row * ranks + q) * cols + c] = own[q][row * cols + c];
}
