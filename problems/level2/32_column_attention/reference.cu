//@ problem level2/32
//@ let places = batch*depth*res, count = places*channels, square = channels*channels
//@ scratch f64 x[places, channels], q[places, channels], k[places, channels], v[places, channels], gate[places, channels]
//@ scratch f64 o[places, channels], p[places, heads, depth]
//@ layer_norm<<<ceildiv(places, 64), 64>>>(msa, norm_gain, norm_bias, x, places, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_qkv, q, places, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, square), k, places, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, 2*square), v, places, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_gate, gate, places, channels)
//@ logits<<<ceildiv(places*heads*depth, 128), 128>>>(q, k, p, places*heads*depth, depth, res, heads, hd)
//@ softmax<<<ceildiv(places*heads, 64), 64>>>(p, mask, places*heads, depth, res, heads)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, gate, b_gate, o, count, depth, res, heads, hd)
//@ linear<<<ceildiv(count, 128), 128>>>(o, w_out, y, places, channels)
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

__global__ void linear(const double* x, const float* w, double* y, long long rows, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * width) return;
    long long r = i / width, o = i % width;
    double sum = 0;
    for (int c = 0; c < width; ++c) sum += x[r * width + c] * w[o * width + c];
    y[i] = sum;
}

// p[b, s, r, h, m]
__global__ void logits(const double* q, const double* k, double* p, long long count, int depth, int res, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long m = i % depth, h = i / depth % heads, place = i / depth / heads;
    long long r = place % res, b = place / res / depth, other = (b * depth + m) * res + r;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(place * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[i] = sum / sqrt((double)hd);
}

__global__ void softmax(double* p, const float* mask, long long rows, int depth, int res, int heads) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    long long place = row / heads, r = place % res, b = place / res / depth;
    double* at = p + row * depth;
    double top = -INFINITY, total = 0;
    for (int m = 0; m < depth; ++m)
        if (mask[(b * depth + m) * res + r] != 0) top = fmax(top, at[m]);
    for (int m = 0; m < depth; ++m) {
        at[m] = mask[(b * depth + m) * res + r] != 0 ? exp(at[m] - top) : 0;
        total += at[m];
    }
    for (int m = 0; m < depth; ++m) at[m] /= total;
}

__global__ void gather(const double* p, const double* v, const double* gate, const float* b_gate, double* o, long long count,
                       int depth, int res, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long d = i % hd, h = i / hd % heads, place = i / hd / heads, r = place % res, b = place / res / depth;
    double sum = 0;
    for (int m = 0; m < depth; ++m)
        sum += p[(place * heads + h) * depth + m] * v[(((b * depth + m) * res + r) * heads + h) * hd + d];
    o[i] = sum / (1 + exp(-(gate[i] + b_gate[h * hd + d])));
}

__global__ void add(double* y, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += bias[i % width];
}
