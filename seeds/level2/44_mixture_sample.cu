//@ problem level2/44
//@ const THREADS = 256, WARPS = THREADS / 32
//@ scratch f32 logpi[parts], logp[batch, parts]
//@ log_weights<<<1, 32>>>(logit, logpi, parts)
//@ draw<<<ceildiv(batch*dim, THREADS), THREADS>>>(mu, logvar, pick, noise, z, batch*dim, parts, dim)
//@ score<<<ceildiv(batch*parts, WARPS), THREADS>>>(z, mu, logvar, logpi, logp, batch*parts, parts, dim)
//@ mix<<<ceildiv(batch, THREADS), THREADS>>>(logp, log_q, batch, parts)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__global__ void log_weights(const float* logit, float* logpi, int parts) {
    float top = -INFINITY, sum = 0.0f;
    for (int k = threadIdx.x; k < parts; k += 32) top = fmaxf(top, logit[k]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int k = threadIdx.x; k < parts; k += 32) sum += expf(logit[k] - top);
    sum = warp_sum(sum);
    for (int k = threadIdx.x; k < parts; k += 32) logpi[k] = logit[k] - top - logf(sum);
}

__global__ void draw(const float* mu, const float* logvar, const int* pick, const float* noise, float* z, size_t count, int parts, int dim) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t b = i / dim, at = (b * parts + pick[b]) * dim + i % dim;
    z[i] = mu[at] + expf(0.5f * logvar[at]) * noise[i];
}

// A warp for each row and part.
__global__ void score(const float* z, const float* mu, const float* logvar, const float* logpi, float* logp, size_t count, int parts, int dim) {
    size_t i = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= count) return;
    int lane = threadIdx.x % 32;
    const float* own = z + i / parts * dim;
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 32) {
        float off = own[d] - mu[i * dim + d], v = logvar[i * dim + d];
        sum += off * off * expf(-v) + v + 1.83787707f;                        // log(2 pi)
    }
    sum = warp_sum(sum);
    if (lane == 0) logp[i] = logpi[i % parts] - 0.5f * sum;
}

__global__ void mix(const float* logp, float* log_q, int batch, int parts) {
    int b = blockIdx.x * THREADS + threadIdx.x;
    if (b >= batch) return;
    const float* own = logp + (size_t)b * parts;
    float top = -INFINITY, sum = 0.0f;
    for (int k = 0; k < parts; ++k) top = fmaxf(top, own[k]);
    for (int k = 0; k < parts; ++k) sum += expf(own[k] - top);
    log_q[b] = top + logf(sum);
}
