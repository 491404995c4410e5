//@ problem level2/37
//@ const ROWS = 8
//@ scratch f32 top[rows], total[rows], p[edges]
//@ row_max<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, score, top, rows)
//@ row_exp<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, score, top, p, rows)
//@ row_sum<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, p, total, rows)
//@ divide<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, total, p, rows)
//@ gather<<<(ceildiv(rows, ROWS), ceildiv(channels, 32)), (32, ROWS)>>>(row_ptr, col, p, x, y, rows, channels)
#include <cmath>

// A warp for each row in the first four kernels.
__global__ void row_max(const int* row_ptr, const float* score, float* top, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    float best = -INFINITY;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) best = fmaxf(best, score[e]);
    for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, step));
    if (threadIdx.x == 0) top[r] = best;
}

__global__ void row_exp(const int* row_ptr, const float* score, const float* top, float* p, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) p[e] = expf(score[e] - top[r]);
}

__global__ void row_sum(const int* row_ptr, const float* p, float* total, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) sum += p[e];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) total[r] = sum;
}

__global__ void divide(const int* row_ptr, const float* total, float* p, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) p[e] /= total[r];
}

// A warp makes 32 neighbouring channels of one row: the reads of x and the write of y are coalesced.
__global__ void gather(const int* row_ptr, const int* col, const float* p, const float* x, float* y, int rows, int channels) {
    int r = blockIdx.x * ROWS + threadIdx.y, c = blockIdx.y * 32 + threadIdx.x;
    if (r >= rows || c >= channels) return;
    float sum = 0.0f;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += p[e] * x[(size_t)col[e] * channels + c];
    y[(size_t)r * channels + c] = sum;
}
