//@ problem level1/32
//@ const THREADS = 256
//@ let count = rows*cols
//@ tops<<<ceildiv(count, THREADS), THREADS>>>(x, top, ranks, count)
//@ owners<<<ceildiv(count, THREADS), THREADS>>>(x, top, owner, ranks, count)
#include <cmath>

__global__ void tops(const float* x, float* top, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float best = -INFINITY;
    for (int r = 0; r < ranks; ++r) best = fmaxf(best, x[r * count + i]);
    top[i] = best;
}

__global__ void owners(const float* x, const float* top, int* owner, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int r = 0;
    while (r < ranks - 1 && x[r * count + i] != top[i]) ++r;
    owner[i] = r;
}
