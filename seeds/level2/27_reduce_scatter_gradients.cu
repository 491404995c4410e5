//@ problem level2/27
//@ const THREADS = 256
//@ let blocks = ceildiv(shard, THREADS)
//@ scratch f32 mean[shard]
//@ reduce<<<blocks, THREADS>>>(peers(g), mean, rank*shard, shard, ranks)
//@ accelerate<<<blocks, THREADS>>>(v, mean, v_next, momentum, shard)
//@ move<<<blocks, THREADS>>>(p, v_next, p_next, rate, shard)
__global__ void reduce(const float* const* g, float* mean, size_t first, size_t shard, int ranks) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= shard) return;
    float sum = 0.0f;
    for (int q = 0; q < ranks; ++q) sum += g[q][first + i];
    mean[i] = sum / ranks;
}

__global__ void accelerate(const float* v, const float* mean, float* v_next, float momentum, size_t shard) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < shard) v_next[i] = momentum * v[i] + mean[i];
}

__global__ void move(const float* p, const float* v_next, float* p_next, float rate, size_t shard) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < shard) p_next[i] = p[i] - rate * v_next[i];
}
