//@ problem level2/49
//@ const THREADS = 256
//@ let count = batch*channels
//@ scratch f32 active[ranks, batch, channels]
//@ gelu<<<ceildiv(ranks*count, THREADS), THREADS>>>(x, active, ranks*count)
//@ add_up<<<ceildiv(count, THREADS), THREADS>>>(active, y, count, ranks)
#include <cmath>

__global__ void gelu(const float* x, float* active, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) active[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

__global__ void add_up(const float* active, float* y, size_t count, int ranks) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int r = 0; r < ranks; ++r) sum += active[r * count + i];
    y[i] = sum;
}
