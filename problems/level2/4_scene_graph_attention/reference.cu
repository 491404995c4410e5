//@ problem level2/4
//@ let places = batch*n, pairs = places*n, count = places*channels, square = channels*channels
//@ scratch f64 x[places, channels], q[places, channels], k[places, channels], v[places, channels], o[places, channels]
//@ scratch f64 s[pairs, edge], r[pairs, heads], p[places, heads, n]
//@ layer_norm<<<ceildiv(places, 64), 64>>>(nodes, norm_gain, norm_bias, x, places, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, w_qkv, q, places, channels, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, square), k, places, channels, channels)
//@ linear<double><<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, 2*square), v, places, channels, channels)
//@ linear<float><<<ceildiv(pairs*edge, 128), 128>>>(pair, w_rel, s, pairs, edge, edge)
//@ silu<<<ceildiv(pairs*edge, 128), 128>>>(s, b_rel, pairs*edge, edge)
//@ linear<double><<<ceildiv(pairs*heads, 128), 128>>>(s, w_bias, r, pairs, edge, heads)
//@ logits<<<ceildiv(pairs*heads, 128), 128>>>(q, k, r, p, pairs*heads, n, heads, hd)
//@ softmax<<<ceildiv(places*heads, 64), 64>>>(p, mask, places*heads, n, heads)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, o, count, n, heads, hd)
//@ linear<double><<<ceildiv(count, 128), 128>>>(o, w_out, y, places, channels, channels)
//@ add<<<ceildiv(count, 128), 128>>>(nodes, y, count)
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

__global__ void silu(double* s, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double t = s[i] + bias[i % width];
    s[i] = t / (1 + exp(-t));
}

// p[b, i, h, j]
__global__ void logits(const double* q, const double* k, const double* r, double* p, long long count, int n, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long j = at % n, h = at / n % heads, row = at / n / heads, other = row / n * n + j;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(row * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[at] = sum / sqrt((double)hd) + r[(row * n + j) * heads + h];
}

// Rows are ordered (batch, i, head).
__global__ void softmax(double* p, const float* mask, long long rows, int n, int heads) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* keep = mask + row / heads * n;
    double* at = p + row * n;
    double top = -INFINITY, total = 0;
    for (int j = 0; j < n; ++j)
        if (keep[j] != 0) top = fmax(top, at[j]);
    for (int j = 0; j < n; ++j) {
        at[j] = keep[j] != 0 ? exp(at[j] - top) : 0;
        total += at[j];
    }
    for (int j = 0; j < n; ++j)
        if (total > 0) at[j] /= total;
}

__global__ void gather(const double* p, const double* v, double* o, long long count, int n, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, row = at / hd / heads, first = row / n * n;
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += p[(row * heads + h) * n + j] * v[((first + j) * heads + h) * hd + d];
    o[at] = sum;
}

__global__ void add(const float* nodes, double* y, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += nodes[i];
}
