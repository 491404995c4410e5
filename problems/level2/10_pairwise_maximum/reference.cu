//@ problem level2/10
//@ let places = batch*n, pairs = places*n
//@ scratch f64 own[places, hidden], other[places, hidden], s[pairs, hidden], m[pairs, channels]
//@ linear<float><<<ceildiv(places*hidden, 128), 128>>>(nodes, w_own, own, places, channels, hidden)
//@ linear<float><<<ceildiv(places*hidden, 128), 128>>>(nodes, w_other, other, places, channels, hidden)
//@ linear<float><<<ceildiv(pairs*hidden, 128), 128>>>(pair, w_edge, s, pairs, edge, hidden)
//@ join<<<ceildiv(pairs*hidden, 128), 128>>>(own, other, b_in, s, pairs*hidden, n, hidden)
//@ linear<double><<<ceildiv(pairs*channels, 128), 128>>>(s, w_out, m, pairs, hidden, channels)
//@ aggregate<<<ceildiv(places*channels, 128), 128>>>(m, b_out, mask, y, places*channels, n, channels)
//@ finish<<<ceildiv(places, 64), 64>>>(nodes, mask, norm_gain, norm_bias, y, places, n, channels)
#include <cmath>

template <typename T>
__global__ void linear(const T* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

// s[b, i, j] holds the part of the pair.
__global__ void join(const double* own, const double* other, const float* bias, double* s, long long count, int n, int hidden) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long h = at % hidden, j = at / hidden % n, i = at / hidden / n;
    double t = own[i * hidden + h] + other[(i / n * n + j) * hidden + h] + s[at] + bias[h];
    s[at] = t / (1 + exp(-t));
}

__global__ void aggregate(const double* m, const float* bias, const float* mask, double* y, long long count, int n,
                          int channels) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long c = at % channels, i = at / channels;
    double top = -INFINITY;
    for (int j = 0; j < n; ++j)
        if (mask[i * n + j] != 0) top = fmax(top, m[(i * n + j) * channels + c] + bias[c]);
    y[at] = top;
}

// y[b, i] holds the largest messages.
__global__ void finish(const float* nodes, const float* mask, const float* gain, const float* bias, double* y, long long places,
                       int n, int channels) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= places) return;
    double* t = y + i * channels;
    const float* node = nodes + i * channels;
    bool related = false;
    for (int j = 0; j < n; ++j) related = related || mask[i * n + j] != 0;
    double mean = 0, var = 0;
    for (int c = 0; c < channels; ++c) mean += t[c] / channels;
    for (int c = 0; c < channels; ++c) var += (t[c] - mean) * (t[c] - mean) / channels;
    for (int c = 0; c < channels; ++c) t[c] = related ? node[c] + (t[c] - mean) / sqrt(var + 1e-5) * gain[c] + bias[c] : node[c];
}
