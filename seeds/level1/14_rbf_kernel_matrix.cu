//@ problem level1/14
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 8
//@ let count = batch*rows*cols
//@ distances<<<(ceildiv(cols, COLS), ceildiv(rows, ROWS), batch), 128>>>(x1, x2, cov, rows, cols, axes)
//@ covariances<<<ceildiv(count, THREADS), THREADS>>>(cov, log_length, log_variance, count)
#include <cmath>

// Squared distances of ROWS x COLS pairs from tiles in shared memory; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) distances(const float* x1, const float* x2, float* d2, int rows, int cols, int axes) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.x * COLS;
    const float* from1 = x1 + (size_t)blockIdx.z * rows * axes;
    const float* from2 = x2 + (size_t)blockIdx.z * cols * axes;
    float sum[8][8] = {};
    for (int first = 0; first < axes; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < ty + ROWS; r += 16) a[tx][r] = row + r < rows && k < axes ? from1[(size_t)(row + r) * axes + k] : 0.0f;
        for (int c = ty; c < ty + COLS; c += 16) b[tx][c] = column + c < cols && k < axes ? from2[(size_t)(column + c) * axes + k] : 0.0f;
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) {
                    float d = a[i][ty * 8 + r] - b[i][tx + 8 * c];
                    sum[r][c] += d * d;
                }
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < rows && j < cols) d2[((size_t)blockIdx.z * rows + i) * cols + j] = sum[r][c];
        }
}

__global__ void covariances(float* cov, float log_length, float log_variance, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) cov[i] = expf(log_variance) * expf(-0.5f * expf(-2.0f * log_length) * cov[i]);
}
