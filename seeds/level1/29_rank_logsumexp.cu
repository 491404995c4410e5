//@ problem level1/29
//@ const THREADS = 256
//@ let count = rows*cols
//@ scratch f32 top[rows, cols], power[ranks, rows, cols], sum[rows, cols]
//@ tops<<<ceildiv(count, THREADS), THREADS>>>(x, top, ranks, count)
//@ powers<<<(ceildiv(count, THREADS), ranks), THREADS>>>(x, top, power, count)
//@ sums<<<ceildiv(count, THREADS), THREADS>>>(power, sum, ranks, count)
//@ logs<<<ceildiv(count, THREADS), THREADS>>>(top, sum, y, count)
#include <cmath>

__global__ void tops(const float* x, float* top, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float best = -INFINITY;
    for (int r = 0; r < ranks; ++r) best = fmaxf(best, x[r * count + i]);
    top[i] = best;
}

__global__ void powers(const float* x, const float* top, float* power, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) power[blockIdx.y * count + i] = expf(x[blockIdx.y * count + i] - top[i]);
}

__global__ void sums(const float* power, float* sum, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float total = 0.0f;
    for (int r = 0; r < ranks; ++r) total += power[r * count + i];
    sum[i] = total;
}

__global__ void logs(const float* top, const float* sum, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] = top[i] + logf(sum[i]);
}
