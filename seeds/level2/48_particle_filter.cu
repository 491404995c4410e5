//@ problem level2/48
//@ const THREADS = 256
//@ let count = batch*particles
//@ scratch f32 p[batch, particles, state], power[batch, particles], w[batch, particles], top[batch], total[batch], sum[batch, particles]
//@ advance<<<ceildiv(count*state, THREADS), THREADS>>>(x, noise, move, p, jitter, count*state, state)
//@ weigh<<<ceildiv(count, THREADS), THREADS>>>(p, see, obs, power, spread, count, particles, state, seen)
//@ largest<<<batch, THREADS>>>(power, top, particles)
//@ exponential<<<ceildiv(count, THREADS), THREADS>>>(power, top, weight, w, count, particles)
//@ add_up<<<batch, THREADS>>>(w, total, particles)
//@ divide<<<ceildiv(count, THREADS), THREADS>>>(w, total, count, particles)
//@ average<<<(batch, state), THREADS>>>(w, p, mean, particles, state)
//@ running<<<batch, THREADS>>>(w, sum, particles)
//@ search<<<ceildiv(count, THREADS), THREADS>>>(sum, u, ancestor, count, particles)
//@ take<<<ceildiv(count*state, THREADS), THREADS>>>(p, ancestor, next, count*state, particles, state)
#include <cmath>

__global__ void advance(const float* x, const float* noise, const float* move, float* p, float jitter, size_t count, int state) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t first = i / state * state;
    int o = (int)(i % state);
    float sum = jitter * noise[i];
    for (int c = 0; c < state; ++c) sum += move[o * state + c] * x[first + c];
    p[i] = sum;
}

__global__ void weigh(const float* p, const float* see, const float* obs, float* power, float spread, size_t count, int particles,
                      int state, int seen) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float miss = 0.0f;
    for (int r = 0; r < seen; ++r) {
        float e = -obs[i / particles * seen + r];
        for (int c = 0; c < state; ++c) e += see[r * state + c] * p[i * state + c];
        miss += e * e;
    }
    power[i] = -miss / (2.0f * spread * spread);
}

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ float block_sum(float v) {
    __shared__ float part[32];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < THREADS / 32; ++i) v += part[i];
    return v;
}

// A block for each row in these four.
__global__ void largest(const float* power, float* top, int particles) {
    __shared__ float part[THREADS];
    float most = -INFINITY;
    for (int i = threadIdx.x; i < particles; i += THREADS) most = fmaxf(most, power[(size_t)blockIdx.x * particles + i]);
    part[threadIdx.x] = most;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) top[blockIdx.x] = part[0];
}

__global__ void add_up(const float* w, float* total, int particles) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < particles; i += THREADS) sum += w[(size_t)blockIdx.x * particles + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) total[blockIdx.x] = sum;
}

__global__ void average(const float* w, const float* p, float* mean, int particles, int state) {
    size_t first = (size_t)blockIdx.x * particles;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < particles; i += THREADS) sum += w[first + i] * p[(first + i) * state + blockIdx.y];
    sum = block_sum(sum);
    if (threadIdx.x == 0) mean[(size_t)blockIdx.x * state + blockIdx.y] = sum;
}

// Running sums, THREADS particles a round.
__global__ void running(const float* w, float* sum, int particles) {
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float before = 0.0f;
    for (int first = 0; first < particles; first += THREADS) {
        int i = first + threadIdx.x;
        float v = i < particles ? w[(size_t)blockIdx.x * particles + i] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            float other = __shfl_up_sync(0xffffffffu, v, step);
            if (lane >= step) v += other;
        }
        if (lane == 31) part[warp] = v;
        __syncthreads();
        if (warp == 0) {
            float all = lane < THREADS / 32 ? part[lane] : 0.0f;
            for (int step = 1; step < 32; step *= 2) {
                float other = __shfl_up_sync(0xffffffffu, all, step);
                if (lane >= step) all += other;
            }
            part[lane] = all;
        }
        __syncthreads();
        if (warp > 0) v += part[warp - 1];
        if (i < particles) sum[(size_t)blockIdx.x * particles + i] = before + v;
        before += part[31];
        __syncthreads();
    }
}

__global__ void exponential(const float* power, const float* top, const float* weight, float* w, size_t count, int particles) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) w[i] = weight[i] * expf(power[i] - top[i / particles]);
}

__global__ void divide(float* w, const float* total, size_t count, int particles) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) w[i] /= total[i / particles];
}

__global__ void search(const float* sum, const float* u, int* ancestor, size_t count, int particles) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t b = at / particles;
    const float* own = sum + b * particles;
    float want = (at % particles + u[b]) / particles;
    int low = 0, high = particles - 1;
    while (low < high) {
        int mid = (low + high) / 2;
        if (own[mid] >= want) high = mid;
        else low = mid + 1;
    }
    ancestor[at] = low;
}

__global__ void take(const float* p, const int* ancestor, float* next, size_t count, int particles, int state) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t at = i / state, b = at / particles;
    next[i] = p[(b * particles + ancestor[at]) * state + i % state];
}
