//@ problem level2/27
//@ step<<<(ceildiv(shard, 128), ranks), 128>>>(g, p, v, v_next, p_next, momentum, rate, ranks, shard)
// A gradient has ranks*shard elements; what is owned stands in order of the ranks.
__global__ void step(const float* g, const float* p, const float* v, double* v_next, double* p_next, float momentum,
                     float rate, int ranks, long long shard) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= shard) return;
    long long own = blockIdx.y * shard + i;
    double sum = 0;
    for (int q = 0; q < ranks; ++q) sum += g[q * ranks * shard + own];
    double velocity = (double)momentum * v[own] + sum / ranks;
    v_next[own] = velocity;
    p_next[own] = p[own] - rate * velocity;
}
