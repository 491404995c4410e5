//@ problem level2/16
//@ const THREADS = 256, WARPS = THREADS / 32
//@ scratch f32 moved[chains, dim], p[chains, dim], before[chains], after[chains]
//@ energy<<<ceildiv(chains, WARPS), THREADS>>>(q, momentum, center, width, before, nu, chains, dim)
//@ for (s = 0; s < steps; ++s) {
//@   leapfrog<<<ceildiv(chains, WARPS), THREADS>>>(s == 0 ? q : moved, s == 0 ? momentum : p, center, width, moved, p, step_size, nu, chains, dim)
//@ }
//@ energy<<<ceildiv(chains, WARPS), THREADS>>>(moved, p, center, width, after, nu, chains, dim)
//@ decide<<<ceildiv(chains, THREADS), THREADS>>>(u, before, after, accepted, chains)
//@ choose<<<ceildiv(chains, WARPS), THREADS>>>(q, moved, accepted, q_next, chains, dim)
#include <cmath>

// A warp for each chain.
__global__ void energy(const float* q, const float* p, const float* center, const float* width, float* out, float nu, int chains,
                       int dim) {
    int c = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= chains) return;
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 32) {
        size_t at = (size_t)c * dim + d;
        float z = (q[at] - center[d]) / width[d];
        sum += 0.5f * ((nu + 1.0f) * log1pf(z * z / nu) + p[at] * p[at]);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) out[c] = sum;
}

__device__ float slope(float q, float center, float width, float nu) {
    float z = (q - center) / width;
    return (nu + 1.0f) * z / (width * (nu + z * z));
}

// One step, a warp for each chain. The first one reads the inputs, the others work in place.
__global__ void leapfrog(const float* q, const float* p, const float* center, const float* width, float* q_to, float* p_to,
                         float step_size, float nu, int chains, int dim) {
    int c = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= chains) return;
    for (int d = lane; d < dim; d += 32) {
        size_t at = (size_t)c * dim + d;
        float push = p[at] - 0.5f * step_size * slope(q[at], center[d], width[d], nu);
        float place = q[at] + step_size * push;
        q_to[at] = place;
        p_to[at] = push - 0.5f * step_size * slope(place, center[d], width[d], nu);
    }
}

__global__ void decide(const float* u, const float* before, const float* after, bool* accepted, int chains) {
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c < chains) accepted[c] = logf(fmaxf(u[c], 1e-10f)) < before[c] - after[c];
}

__global__ void choose(const float* q, const float* moved, const bool* accepted, float* q_next, int chains, int dim) {
    int c = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= chains) return;
    const float* from = accepted[c] ? moved : q;
    for (int d = lane; d < dim; d += 32) q_next[(size_t)c * dim + d] = from[(size_t)c * dim + d];
}
