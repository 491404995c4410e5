//@ problem level2/30
//@ let times = batch*len
//@ scratch f64 delta[batch, len, channels], u[batch, len, state], v[batch, len, state]
//@ linear<<<ceildiv(times*channels, 128), 128>>>(x, w_delta, delta, times, channels, channels)
//@ linear<<<ceildiv(times*state, 128), 128>>>(x, w_u, u, times, channels, state)
//@ linear<<<ceildiv(times*state, 128), 128>>>(x, w_v, v, times, channels, state)
//@ softplus<<<ceildiv(times*channels, 128), 128>>>(delta, b_delta, times*channels, channels)
//@ scan<<<ceildiv(batch*channels, 32), 32>>>(x, delta, u, v, a_log, skip, y, batch, len, channels, state)
#include <cmath>

__global__ void linear(const float* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void softplus(double* v, const float* bias, long long count, int channels) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double a = v[i] + bias[i % channels];
    v[i] = fmax(a, 0.0) + log1p(exp(-fabs(a)));
}

// One thread follows all states of one channel.
__global__ void scan(const float* x, const double* delta, const double* u, const double* v, const float* a_log, const float* skip,
                     double* y, int batch, int len, int channels, int state) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels) return;
    int d = i % channels;
    double rate[64], h[64];
    for (int s = 0; s < state; ++s) {
        rate[s] = exp((double)a_log[d * state + s]);
        h[s] = 0;
    }
    for (long long t = (long long)(i / channels) * len, end = t + len; t < end; ++t) {
        double step = delta[t * channels + d], value = x[t * channels + d], sum = skip[d] * value;
        for (int s = 0; s < state; ++s) {
            h[s] = exp(-step * rate[s]) * h[s] + step * u[t * state + s] * value;
            sum += h[s] * v[t * state + s];
        }
        y[t * channels + d] = sum;
    }
}
