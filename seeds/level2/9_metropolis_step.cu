//@ problem level2/9
//@ const THREADS = 256, WARPS = THREADS / 32
//@ scratch f32 proposal[chains, dim], before[chains], after[chains]
//@ propose<<<ceildiv(chains*dim, THREADS), THREADS>>>(x, noise, proposal, step, chains*dim)
//@ energy<<<ceildiv(chains, WARPS), THREADS>>>(x, center, width, before, chains, dim)
//@ energy<<<ceildiv(chains, WARPS), THREADS>>>(proposal, center, width, after, chains, dim)
//@ decide<<<ceildiv(chains, THREADS), THREADS>>>(u, before, after, accepted, chains)
//@ choose<<<ceildiv(chains*dim, THREADS), THREADS>>>(x, proposal, accepted, x_next, chains*dim, dim)
__global__ void propose(const float* x, const float* noise, float* proposal, float step, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) proposal[i] = x[i] + step * noise[i];
}

// A warp for each chain.
__global__ void energy(const float* z, const float* center, const float* width, float* out, int chains, int dim) {
    int c = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= chains) return;
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 32) {
        float t = (z[(size_t)c * dim + d] - center[d]) / width[d];
        sum += t * t;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) out[c] = 0.5f * sum;
}

__global__ void decide(const float* u, const float* before, const float* after, bool* accepted, int chains) {
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c < chains) accepted[c] = logf(fmaxf(u[c], 1e-10f)) < before[c] - after[c];
}

__global__ void choose(const float* x, const float* proposal, const bool* accepted, float* x_next, size_t count, int dim) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) x_next[i] = accepted[i / dim] ? proposal[i] : x[i];
}
