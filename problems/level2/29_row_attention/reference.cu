//@ problem level2/29
//@ let places = batch*depth*res, count = places*channels, square = channels*channels, pairs = batch*res*res
//@ scratch f64 x[places, channels], q[places, channels], k[places, channels], v[places, channels], gate[places, channels]
//@ scratch f64 o[places, channels], bias[pairs, heads], p[places, heads, res]
//@ layer_norm<<<ceildiv(places, 64), 64>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, w_qkv, q, places, channels, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, square), k, places, channels, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, 2*square), v, places, channels, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, w_gate, gate, places, channels, channels)
//@ linear<float><<<ceildiv(pairs*heads, 128), 128>>>(pair, w_bias, bias, pairs, edge, heads)
//@ logits<<<ceildiv(places*heads*res, 128), 128>>>(q, k, bias, p, places*heads*res, depth, res, heads, hd)
//@ softmax<<<ceildiv(places*heads, 64), 64>>>(p, mask, places*heads, res, heads)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, gate, b_gate, o, count, res, heads, hd)
//@ linear<double><<<ceildiv(count, 128), 128>>>(o, w_out, y, places, channels, channels)
//@ add<<<ceildiv(count, 128), 128>>>(y, b_out, count, channels)
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

template <typename T>
__global__ void linear(const T* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

// p[b, s, r, h, m]
__global__ void logits(const double* q, const double* k, const double* bias, double* p, long long count, int depth, int res, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long m = at % res, h = at / res % heads, place = at / res / heads, r = place % res, b = place / res / depth;
    long long other = place - r + m, edge = (b * res + r) * res + m;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(place * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[at] = sum / sqrt((double)hd) + bias[edge * heads + h];
}

// The mask of (b, s, m) for a row (b, s, r, h).
__global__ void softmax(double* p, const float* mask, long long rows, int res, int heads) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* keep = mask + row / heads / res * res;
    double* at = p + row * res;
    double top = -INFINITY, total = 0;
    for (int m = 0; m < res; ++m)
        if (keep[m] != 0) top = fmax(top, at[m]);
    for (int m = 0; m < res; ++m) {
        at[m] = keep[m] != 0 ? exp(at[m] - top) : 0;
        total += at[m];
    }
    for (int m = 0; m < res; ++m) at[m] /= total;
}

__global__ void gather(const double* p, const double* v, const double* gate, const float* b_gate, double* o, long long count,
                       int res, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, place = at / hd / heads, first = place / res * res;
    double sum = 0;
    for (int m = 0; m < res; ++m) sum += p[(place * heads + h) * res + m] * v[((first + m) * heads + h) * hd + d];
    o[at] = sum / (1 + exp(-(gate[at] + b_gate[h * hd + d])));
}

__global__ void add(double* y, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += bias[i % width];
}
