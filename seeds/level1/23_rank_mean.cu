//@ problem level1/23
//@ const THREADS = 256
//@ let count = rows*cols
//@ scratch f32 weighted[ranks, rows, cols], all[1]
//@ scale<<<(ceildiv(count, THREADS), ranks), THREADS>>>(x, samples, weighted, count)
//@ sum<<<ceildiv(count, THREADS), THREADS>>>(weighted, y, ranks, count)
//@ total<<<1, 1>>>(samples, all, ranks)
//@ divide<<<ceildiv(count, THREADS), THREADS>>>(all, y, count)
__global__ void scale(const float* x, const int* samples, float* weighted, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) weighted[blockIdx.y * count + i] = (float)samples[blockIdx.y] * x[blockIdx.y * count + i];
}

__global__ void sum(const float* weighted, float* y, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float result = 0.0f;
    for (int r = 0; r < ranks; ++r) result += weighted[r * count + i];
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
