//@ problem level2/43
//@ let pairs = batch*n*n
//@ scratch f64 norm_z[pairs, channels], x[pairs, channels], a[pairs, hidden], c[pairs, hidden]
//@ layer_norm<<<ceildiv(pairs, 64), 64>>>(z, norm_gain, norm_bias, norm_z, pairs, channels)
//@ average<<<ceildiv(pairs*channels, 128), 128>>>(norm_z, x, pairs*channels, n, channels)
//@ layer<<<ceildiv(pairs*hidden, 128), 128>>>(x, w_in, b_in, a, pairs, channels, hidden)
//@ layer<<<ceildiv(pairs*hidden, 128), 128>>>(a, w_mid, b_mid, c, pairs, hidden, hidden)
//@ head<<<ceildiv(pairs, 64), 64>>>(c, w_out, b_out, y, pairs, hidden)
#include <cmath>

__global__ void layer_norm(const float* z, const float* gain, const float* bias, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* v = z + r * width;
    double mean = 0, var = 0;
    for (int c = 0; c < width; ++c) mean += (double)v[c] / width;
    for (int c = 0; c < width; ++c) var += (v[c] - mean) * (v[c] - mean) / width;
    for (int c = 0; c < width; ++c) out[r * width + c] = (v[c] - mean) / sqrt(var + 1e-5) * gain[c] + bias[c];
}

__global__ void average(const double* norm_z, double* x, long long count, int n, int channels) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long c = at % channels, pair = at / channels, j = pair % n, i = pair / n % n, b = pair / n / n;
    x[at] = (norm_z[at] + norm_z[((b * n + j) * n + i) * channels + c]) / 2;
}

// relu(w x + bias)
__global__ void layer(const double* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = fmax(sum, 0.0);
}

__global__ void head(const double* c, const float* w, const float* bias, double* y, long long rows, int hidden) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = bias[0];
    for (int o = 0; o < hidden; ++o) sum += c[r * hidden + o] * w[o];
    y[r] = 1 / (1 + exp(-sum));
}
