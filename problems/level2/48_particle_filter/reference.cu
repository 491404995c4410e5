//@ problem level2/48
//@ let count = batch*particles
//@ scratch f64 p[batch, particles, state], power[batch, particles], sum[batch, particles], slack[batch]
//@ advance<<<ceildiv(count, 128), 128>>>(x, noise, move, p, jitter, count, state)
//@ weigh<<<ceildiv(count, 128), 128>>>(p, see, obs, weight, power, spread, count, particles, state, seen)
//@ accumulate<<<ceildiv(batch, 32), 32>>>(power, weight, sum, slack, batch, particles)
//@ average<<<ceildiv(batch*state, 32), 32>>>(sum, p, mean, mean_size, batch*state, particles, state)
//@ resample<<<ceildiv(count, 128), 128>>>(sum, slack, u, ancestor, margin, count, particles)
//@ take<<<ceildiv(count*state, 128), 128>>>(p, ancestor, next, count*state, particles, state)
#include <cmath>

__global__ void advance(const float* x, const float* noise, const float* move, double* p, float jitter, long long count, int state) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int o = 0; o < state; ++o) {
        double sum = (double)jitter * noise[i * state + o];
        for (int c = 0; c < state; ++c) sum += (double)move[o * state + c] * x[i * state + c];
        p[i * state + o] = sum;
    }
}

// The logarithm of a weight before all are brought to the sum 1.
__global__ void weigh(const double* p, const float* see, const float* obs, const float* weight, double* power, float spread,
                      long long count, int particles, int state, int seen) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double miss = 0;
    for (int r = 0; r < seen; ++r) {
        double e = -obs[i / particles * seen + r];
        for (int c = 0; c < state; ++c) e += see[r * state + c] * p[i * state + c];
        miss += e * e;
    }
    power[i] = log((double)weight[i]) - miss / (2 * (double)spread * spread);
}

// Running sums of w. slack: what fp32 may be off in them, by the sums themselves and by the largest weight's exponent.
__global__ void accumulate(const double* power, const float* weight, double* sum, double* slack, int batch, int particles) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    const double* own = power + (long long)b * particles;
    double* to = sum + (long long)b * particles;
    double top = -INFINITY, total = 0, size = 0;
    for (int i = 0; i < particles; ++i)
        if (own[i] > top) {
            top = own[i];
            size = log((double)weight[(long long)b * particles + i]) - top;
        }
    for (int i = 0; i < particles; ++i) total += exp(own[i] - top);
    double run = 0;
    for (int i = 0; i < particles; ++i) {
        run += exp(own[i] - top);
        to[i] = run / total;
    }
    slack[b] = 3e-6 + 3e-8 * sqrt((double)particles) + 2.5e-7 * size;
}

__global__ void average(const double* sum, const double* p, double* mean, double* mean_size, int count, int particles, int state) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long first = (long long)(at / state) * particles;
    double total = 0, size = 0;
    for (int i = 0; i < particles; ++i) {
        double part = (sum[first + i] - (i > 0 ? sum[first + i - 1] : 0)) * p[(first + i) * state + at % state];
        total += part;
        size += fabs(part);
    }
    mean[at] = total;
    mean_size[at] = size;
}

__global__ void resample(const double* sum, const double* slack, const float* u, int* ancestor, double* margin, long long count, int particles) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long b = at / particles;
    const double* own = sum + b * particles;
    double want = (at % particles + (double)u[b]) / particles;
    int low = 0, high = particles - 1;                                       // the first i with own[i] >= want is in low .. high
    while (low < high) {
        int mid = (low + high) / 2;
        if (own[mid] >= want) high = mid;
        else low = mid + 1;
    }
    double near = 1;
    if (low > 0) near = fmin(near, want - own[low - 1]);
    if (low < particles - 1) near = fmin(near, own[low] - want);
    ancestor[at] = low;
    margin[at] = near / slack[b];
}

__global__ void take(const double* p, const int* ancestor, double* next, long long count, int particles, int state) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long at = i / state, b = at / particles;
    next[i] = p[(b * particles + ancestor[at]) * state + i % state];
}
