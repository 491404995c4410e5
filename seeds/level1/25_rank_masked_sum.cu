//@ problem level1/25
//@ const THREADS = 256
//@ let count = rows*cols
//@ scratch f32 kept[ranks, rows, cols]
//@ choose<<<ceildiv(ranks*count, THREADS), THREADS>>>(x, mask, kept, ranks*count)
//@ add<<<ceildiv(count, THREADS), THREADS>>>(kept, y, ranks, count)
__global__ void choose(const float* x, const bool* mask, float* kept, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) kept[i] = mask[i] ? x[i] : 0.0f;
}

__global__ void add(const float* kept, float* y, int ranks, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int r = 0; r < ranks; ++r) sum += kept[r * count + i];
    y[i] = sum;
}
