//@ problem level3/4
//@ let times = batch*len, count = batch*len*inner
//@ scratch f64 g[batch, len, channels], p[batch, len, inner], z[batch, len, inner], a[batch, len, inner], delta[batch, len, inner]
//@ scratch f64 u[batch, len, state], v[batch, len, state], q[batch, len, inner]
//@ normalize<<<ceildiv(times, 64), 64>>>(x, norm_gain, g, times, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(g, w_in, p, times, channels, inner)
//@ linear<<<ceildiv(count, 128), 128>>>(g, offset(w_in, inner*channels), z, times, channels, inner)
//@ convolve<<<ceildiv(count, 128), 128>>>(p, w_conv, b_conv, a, count, len, inner)
//@ linear<<<ceildiv(count, 128), 128>>>(a, w_delta, delta, times, inner, inner)
//@ softplus<<<ceildiv(count, 128), 128>>>(delta, b_delta, count, inner)
//@ linear<<<ceildiv(times*state, 128), 128>>>(a, w_u, u, times, inner, state)
//@ linear<<<ceildiv(times*state, 128), 128>>>(a, w_v, v, times, inner, state)
//@ scan<<<ceildiv(batch*inner, 32), 32>>>(a, delta, u, v, a_log, skip, q, batch, len, inner, state)
//@ gate<<<ceildiv(count, 128), 128>>>(q, z, count)
//@ linear<<<ceildiv(times*channels, 128), 128>>>(q, w_out, y, times, inner, channels)
//@ add<<<ceildiv(times*channels, 128), 128>>>(y, x, times*channels)
#include <cmath>

__global__ void normalize(const float* x, const float* gain, double* g, long long rows, int channels) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double squares = 0;
    for (int c = 0; c < channels; ++c) squares += (double)x[r * channels + c] * x[r * channels + c];
    double size = sqrt(squares / channels + 1e-5);
    for (int c = 0; c < channels; ++c) g[r * channels + c] = x[r * channels + c] / size * gain[c];
}

__global__ void linear(const double* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void convolve(const double* p, const float* w, const float* bias, double* a, long long count, int len, int inner) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long d = i % inner, t = i / inner % len;
    double sum = bias[d];
    for (int j = 0; j < 4; ++j)
        if (t - 3 + j >= 0) sum += w[d * 4 + j] * p[i + (j - 3) * inner];
    a[i] = sum / (1 + exp(-sum));
}

__global__ void softplus(double* v, const float* bias, long long count, int inner) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double a = v[i] + bias[i % inner];
    v[i] = fmax(a, 0.0) + log1p(exp(-fabs(a)));
}

// One thread follows all states of one channel.
__global__ void scan(const double* a, const double* delta, const double* u, const double* v, const float* a_log, const float* skip,
                     double* q, int batch, int len, int inner, int state) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * inner) return;
    int d = i % inner;
    double rate[64], h[64];
    for (int s = 0; s < state; ++s) {
        rate[s] = exp((double)a_log[d * state + s]);
        h[s] = 0;
    }
    for (long long t = (long long)(i / inner) * len, end = t + len; t < end; ++t) {
        double step = delta[t * inner + d], value = a[t * inner + d], sum = skip[d] * value;
        for (int s = 0; s < state; ++s) {
            h[s] = exp(-step * rate[s]) * h[s] + step * u[t * state + s] * value;
            sum += h[s] * v[t * state + s];
        }
        q[t * inner + d] = sum;
    }
}

__global__ void gate(double* q, const double* z, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) q[i] *= z[i] / (1 + exp(-z[i]));
}

__global__ void add(double* y, const float* x, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += x[i];
}
