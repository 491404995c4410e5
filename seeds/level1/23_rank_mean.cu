//@ problem level1/23
//@ const THREADS = 256
//@ let count = rows*cols
//@ scratch f32 all[1]
//@ weighted_sum<<<ceildiv(count, THREADS), THREADS>>>(x, samples, y, ranks, count)
//@ total<<<1, 1>>>(samples, all, ranks)
//@ divide<<<ceildiv(count, THREADS), THREADS>>>(all, y, count)
__global__ void weighted_sum(const float* x, const int* samples, float* y, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float result = 0.0f;
    for (int r = 0; r < ranks; ++r) result += (float)samples[r] * x[r * count + i];
    y[i] = result;
}

__global__ void total(const int* samples, float* all, int ranks) {
    int result = 0;
    for (int r = 0; r < ranks; ++r) result += samples[r];
    all[0] = (float)result;
}

__global__ void divide(const float* all, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] /= all[0];
}
