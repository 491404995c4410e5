//@ problem level2/25
//@ let places = batch*depth*res, pairs = batch*res*res, products = hidden*hidden, narrow = ceildiv(places*hidden, 128)
//@ scratch f64 x[places, channels], u[places, hidden], v[places, hidden], m[pairs, products]
//@ layer_norm<<<ceildiv(places, 64), 64>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<<<narrow, 128>>>(x, w_side, b_side, u, places, channels, hidden)
//@ linear<<<narrow, 128>>>(x, offset(w_side, hidden*channels), offset(b_side, hidden), v, places, channels, hidden)
//@ cover<<<narrow, 128>>>(u, mask, places*hidden, hidden)
//@ cover<<<narrow, 128>>>(v, mask, places*hidden, hidden)
//@ outer_mean<<<ceildiv(pairs*products, 128), 128>>>(u, v, mask, m, pairs*products, depth, res, hidden)
//@ linear<<<ceildiv(pairs*edge, 128), 128>>>(m, w_out, b_out, y, pairs, products, edge)
#include <cmath>

__global__ void layer_norm(const float* x, const float* gain, const float* bias, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* v = x + r * width;
    double mean = 0, var = 0;
    for (int c = 0; c < width; ++c) mean += (double)v[c] / width;
    for (int c = 0; c < width; ++c) var += (v[c] - mean) * (v[c] - mean) / width;
    for (int c = 0; c < width; ++c) out[r * width + c] = (v[c] - mean) / sqrt(var + 1e-5) * gain[c] + bias[c];
}

__global__ void linear(const double* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void cover(double* v, const float* mask, long long count, int hidden) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) v[i] *= mask[i / hidden];
}

__global__ void outer_mean(const double* u, const double* v, const float* mask, double* m, long long count, int depth, int res,
                           int hidden) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long f = at % hidden, e = at / hidden % hidden, pair = at / hidden / hidden, j = pair % res, i = pair / res % res;
    double sum = 0, both = 0;
    for (int s = 0; s < depth; ++s) {
        long long row = (pair / res / res * depth + s) * res;
        sum += u[(row + i) * hidden + e] * v[(row + j) * hidden + f];
        both += mask[row + i] * mask[row + j];
    }
    m[at] = sum / fmax(both, 1.0);
}
