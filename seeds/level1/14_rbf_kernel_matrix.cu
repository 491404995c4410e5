//@ problem level1/14
//@ const T = 32
//@ distances<<<(ceildiv(cols, T), ceildiv(rows, T), batch), (32, 8)>>>(x1, x2, cov, rows, cols, axes)
//@ covariances<<<(ceildiv(cols, T), ceildiv(rows, T), batch), (32, 8)>>>(cov, log_length, log_variance, rows, cols)
#include <cmath>

// Squared distances of T x T pairs from tiles in shared memory, four rows for each thread.
__global__ void distances(const float* x1, const float* x2, float* d2, int rows, int cols, int axes) {
    __shared__ float a[T][T + 1], b[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * T, j0 = blockIdx.x * T;
    const float* from1 = x1 + (size_t)blockIdx.z * rows * axes;
    const float* from2 = x2 + (size_t)blockIdx.z * cols * axes;
    float sum[4] = {};
    for (int c0 = 0; c0 < axes; c0 += T) {
        int deep = min(T, axes - c0);
        for (int k = ty * 32 + tx; k < T * deep; k += 256) {
            int r = k / deep, c = k % deep;
            if (i0 + r < rows) a[r][c] = from1[(size_t)(i0 + r) * axes + c0 + c];
            if (j0 + r < cols) b[r][c] = from2[(size_t)(j0 + r) * axes + c0 + c];
        }
        __syncthreads();
        for (int c = 0; c < deep; ++c)
            for (int q = 0; q < 4; ++q) {
                float d = a[ty + 8 * q][c] - b[tx][c];
                sum[q] += d * d;
            }
        __syncthreads();
    }
    for (int q = 0; q < 4; ++q) {
        int i = i0 + ty + 8 * q, j = j0 + tx;
        if (i < rows && j < cols) d2[((size_t)blockIdx.z * rows + i) * cols + j] = sum[q];
    }
}

__global__ void covariances(float* cov, float log_length, float log_variance, int rows, int cols) {
    int j = blockIdx.x * T + threadIdx.x;
    float variance = expf(log_variance), shrink = -0.5f * expf(-2.0f * log_length);
    for (int i = blockIdx.y * T + threadIdx.y; i < min(rows, (blockIdx.y + 1) * T); i += 8) {
        size_t at = ((size_t)blockIdx.z * rows + i) * cols + j;
        if (j < cols) cov[at] = variance * expf(shrink * cov[at]);
    }
}
