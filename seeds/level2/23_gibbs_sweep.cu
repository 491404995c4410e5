//@ problem level2/23
//@ const THREADS = 256, CHAINS = 32
//@ let count = chains*dim
//@ scratch f32 off[chains, dim], push[chains, dim]
//@ center<<<ceildiv(count, THREADS), THREADS>>>(x, mu, off, count, dim)
//@ scale<<<ceildiv(count, THREADS), THREADS>>>(noise, precision, push, count, dim)
//@ renew<<<ceildiv(chains, CHAINS), CHAINS, 4*CHAINS*dim>>>(precision, push, off, chains, dim)
//@ add_mean<<<ceildiv(count, THREADS), THREADS>>>(off, mu, x_next, count, dim)

__global__ void center(const float* x, const float* mu, float* off, size_t count, int dim) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) off[i] = x[i] - mu[i % dim];
}

__global__ void scale(const float* noise, const float* precision, float* push, size_t count, int dim) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, d = i % dim;
    if (i < count) push[i] = noise[i] / sqrtf(precision[d * dim + d]);
}

// A thread for each chain, whose coordinates stand in shared memory: all chains of the block read the same row of the matrix.
__global__ void renew(const float* precision, const float* push, float* off, int chains, int dim) {
    extern __shared__ float own[];
    size_t first = (size_t)blockIdx.x * CHAINS * dim;
    int lane = threadIdx.x, valid = min(CHAINS, chains - blockIdx.x * CHAINS) * dim;
    for (int s = lane; s < valid; s += CHAINS) own[s % dim * CHAINS + s / dim] = off[first + s];
    __syncthreads();
    if (lane * dim < valid)
        for (int i = 0; i < dim; ++i) {
            const float* row = precision + (size_t)i * dim;
            float rest = 0.0f;
            for (int j = 0; j < i; ++j) rest += row[j] * own[j * CHAINS + lane];
            for (int j = i + 1; j < dim; ++j) rest += row[j] * own[j * CHAINS + lane];
            own[i * CHAINS + lane] = push[first + lane * dim + i] - rest / row[i];
        }
    __syncthreads();
    for (int s = lane; s < valid; s += CHAINS) off[first + s] = own[s % dim * CHAINS + s / dim];
}

__global__ void add_mean(const float* off, const float* mu, float* x_next, size_t count, int dim) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) x_next[i] = off[i] + mu[i % dim];
}
