//@ problem level1/2
//@ const ROWS = 8
//@ scratch f32 top[rows], sum[rows]
//@ row_max<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, score, top, rows)
//@ row_exp<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, score, top, alpha, rows)
//@ row_sum<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, alpha, sum, rows)
//@ divide<<<ceildiv(rows, ROWS), (32, ROWS)>>>(row_ptr, sum, alpha, rows)
#include <cmath>

// A warp for each row in all four kernels.
__global__ void row_max(const int* row_ptr, const float* score, float* top, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    float best = -INFINITY;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) best = fmaxf(best, score[e]);
    for (int lane = 16; lane > 0; lane /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lane));
    if (threadIdx.x == 0) top[r] = best;
}

__global__ void row_exp(const int* row_ptr, const float* score, const float* top, float* alpha, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) alpha[e] = expf(score[e] - top[r]);
}

__global__ void row_sum(const int* row_ptr, const float* alpha, float* sum, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    float total = 0.0f;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) total += alpha[e];
    for (int lane = 16; lane > 0; lane /= 2) total += __shfl_xor_sync(0xffffffffu, total, lane);
    if (threadIdx.x == 0) sum[r] = total;
}

__global__ void divide(const int* row_ptr, const float* sum, float* alpha, int rows) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    for (int e = row_ptr[r] + threadIdx.x; e < row_ptr[r + 1]; e += 32) alpha[e] /= sum[r];
}
