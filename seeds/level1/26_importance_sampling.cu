//@ problem level1/26
//@ const THREADS = 256, CHUNK = 1024, DEEP = 16, MOST = 16
//@ let chunks = ceildiv(samples, CHUNK)
//@ scratch f32 target[batch, samples], proposal[batch, samples], top[batch], w[batch, samples], sum[batch, 2]
//@ scratch f32 part[batch, chunks, axes]
//@ targets<<<ceildiv(batch*samples, THREADS), THREADS>>>(x, center, log_share, target, batch*samples, axes, components)
//@ proposals<<<ceildiv(batch*samples, THREADS), THREADS>>>(x, proposal, spread, batch*samples, axes)
//@ tops<<<batch, THREADS>>>(target, proposal, top, samples)
//@ weights<<<ceildiv(batch*samples, THREADS), THREADS>>>(target, proposal, top, w, batch*samples, samples)
//@ sums<<<batch, THREADS>>>(w, sum, samples)
//@ moments<<<(chunks, batch), THREADS>>>(x, w, part, samples, axes, chunks)
//@ finish<<<ceildiv(batch*axes, THREADS), THREADS>>>(part, sum, mean, ess, batch, axes, chunks)
#include <cmath>

// Copies DEEP axes, from axis `first`, of the block's samples; what is missing counts as 0.
__device__ void stage(float tile[THREADS][DEEP + 1], const float* x, int count, int axes, int first) {
    __syncthreads();
    for (int i = threadIdx.x; i < THREADS * DEEP; i += THREADS) {
        int n = blockIdx.x * THREADS + i / DEEP, d = first + i % DEEP;
        tile[i / DEEP][i % DEEP] = n < count && d < axes ? x[(size_t)n * axes + d] : 0.0f;
    }
    __syncthreads();
}

__global__ void targets(const float* x, const float* center, const float* log_share, float* target,
                        int count, int axes, int components) {
    __shared__ float tile[THREADS][DEEP + 1];
    int n = blockIdx.x * THREADS + threadIdx.x;
    float d2[MOST] = {};
    for (int first = 0; first < axes; first += DEEP) {
        stage(tile, x, count, axes, first);
        for (int d = 0; d < min(DEEP, axes - first); ++d)
            for (int k = 0; k < MOST; ++k)
                if (k < components) {
                    float off = tile[threadIdx.x][d] - center[k * axes + first + d];
                    d2[k] += off * off;
                }
    }
    if (n >= count) return;
    float top = -INFINITY, sum = 0.0f;
    for (int k = 0; k < MOST; ++k)
        if (k < components) top = fmaxf(top, log_share[k] - 0.5f * d2[k]);
    for (int k = 0; k < MOST; ++k)
        if (k < components) sum += expf(log_share[k] - 0.5f * d2[k] - top);
    target[n] = top + logf(sum);
}

__global__ void proposals(const float* x, float* proposal, float spread, int count, int axes) {
    __shared__ float tile[THREADS][DEEP + 1];
    int n = blockIdx.x * THREADS + threadIdx.x;
    float square = 0.0f;
    for (int first = 0; first < axes; first += DEEP) {
        stage(tile, x, count, axes, first);
        for (int d = 0; d < DEEP; ++d) square += tile[threadIdx.x][d] * tile[threadIdx.x][d];
    }
    if (n < count) proposal[n] = -square / (2.0f * spread * spread);
}

// A block for each batch entry, as in sums.
__global__ void tops(const float* target, const float* proposal, float* top, int samples) {
    __shared__ float best[THREADS];
    float mine = -INFINITY;
    for (size_t n = (size_t)blockIdx.x * samples + threadIdx.x; n < (size_t)(blockIdx.x + 1) * samples; n += THREADS)
        mine = fmaxf(mine, target[n] - proposal[n]);
    best[threadIdx.x] = mine;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + step]);
    }
    if (threadIdx.x == 0) top[blockIdx.x] = best[0];
}

__global__ void weights(const float* target, const float* proposal, const float* top, float* w, int count, int samples) {
    int n = blockIdx.x * THREADS + threadIdx.x;
    if (n < count) w[n] = expf(target[n] - proposal[n] - top[n / samples]);
}

__global__ void sums(const float* w, float* sum, int samples) {
    __shared__ float first[THREADS], second[THREADS];
    float one = 0.0f, two = 0.0f;
    for (size_t n = (size_t)blockIdx.x * samples + threadIdx.x; n < (size_t)(blockIdx.x + 1) * samples; n += THREADS) {
        one += w[n];
        two += w[n] * w[n];
    }
    first[threadIdx.x] = one, second[threadIdx.x] = two;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) {
            first[threadIdx.x] += first[threadIdx.x + step];
            second[threadIdx.x] += second[threadIdx.x + step];
        }
    }
    if (threadIdx.x == 0) sum[2 * blockIdx.x] = first[0], sum[2 * blockIdx.x + 1] = second[0];
}

// The weighted samples of a chunk: neighbouring threads take neighbouring axes, groups of threads every few samples.
__global__ void moments(const float* x, const float* w, float* part, int samples, int axes, int chunks) {
    __shared__ float sum[THREADS];
    int groups = THREADS / axes, group = threadIdx.x / axes, d = threadIdx.x % axes, b = blockIdx.y;
    int end = min(samples, (int)(blockIdx.x + 1) * CHUNK);
    float moment = 0.0f;
    if (group < groups)
        for (int n = blockIdx.x * CHUNK + group; n < end; n += groups)
            moment += w[(size_t)b * samples + n] * x[((size_t)b * samples + n) * axes + d];
    sum[threadIdx.x] = moment;
    __syncthreads();
    if (threadIdx.x >= axes) return;
    for (int g = 1; g < groups; ++g) moment += sum[g * axes + d];
    part[((size_t)b * chunks + blockIdx.x) * axes + d] = moment;
}

__global__ void finish(const float* part, const float* sum, float* mean, float* ess, int batch, int axes, int chunks) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= batch * axes) return;
    int b = i / axes, d = i % axes;
    float moment = 0.0f;
    for (int c = 0; c < chunks; ++c) moment += part[((size_t)b * chunks + c) * axes + d];
    mean[i] = moment / sum[2 * b];
    if (d == 0) ess[b] = sum[2 * b] * sum[2 * b] / sum[2 * b + 1];
}
