//@ problem level2/6
//@ let pairs = batch*n*n, count = pairs*channels, square = channels*channels
//@ scratch f64 x[pairs, channels], q[pairs, channels], k[pairs, channels], v[pairs, channels], gate[pairs, channels]
//@ scratch f64 o[pairs, channels], third[pairs, heads], p[pairs, heads, n]
//@ layer_norm<<<ceildiv(pairs, 64), 64>>>(z, norm_gain, norm_bias, x, pairs, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_qkv, q, pairs, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, square), k, pairs, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, 2*square), v, pairs, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_gate, gate, pairs, channels, channels)
//@ linear<<<ceildiv(pairs*heads, 128), 128>>>(x, w_bias, third, pairs, channels, heads)
//@ logits<<<ceildiv(pairs*heads*n, 128), 128>>>(q, k, third, p, pairs*heads*n, n, heads, hd)
//@ softmax<<<ceildiv(pairs*heads, 64), 64>>>(p, mask, pairs*heads, n, heads)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, gate, b_gate, o, count, n, heads, hd)
//@ linear<<<ceildiv(count, 128), 128>>>(o, w_out, y, pairs, channels, channels)
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

__global__ void linear(const double* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

// p[b, i, j, h, m]
__global__ void logits(const double* q, const double* k, const double* third, double* p, long long count, int n, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long m = at % n, h = at / n % heads, pair = at / n / heads, j = pair % n, b = pair / n / n;
    long long other = pair - j + m, edge = (b * n + j) * n + m;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(pair * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[at] = sum / sqrt((double)hd) + third[edge * heads + h];
}

// The mask of (b, i, m) for a row (b, i, j, h).
__global__ void softmax(double* p, const float* mask, long long rows, int n, int heads) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* keep = mask + row / heads / n * n;
    double* at = p + row * n;
    double top = -INFINITY, total = 0;
    for (int m = 0; m < n; ++m)
        if (keep[m] != 0) top = fmax(top, at[m]);
    for (int m = 0; m < n; ++m) {
        at[m] = keep[m] != 0 ? exp(at[m] - top) : 0;
        total += at[m];
    }
    for (int m = 0; m < n; ++m) at[m] /= total;
}

__global__ void gather(const double* p, const double* v, const double* gate, const float* b_gate, double* o, long long count,
                       int n, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, pair = at / hd / heads, first = pair / n * n;
    double sum = 0;
    for (int m = 0; m < n; ++m) sum += p[(pair * heads + h) * n + m] * v[((first + m) * heads + h) * hd + d];
    o[at] = sum / (1 + exp(-(gate[at] + b_gate[h * hd + d])));
}

__global__ void add(double* y, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += bias[i % width];
}
