//@ problem level2/45
//@ let places = batch*height*width, count = places*channels, square = channels*channels
//@ scratch f64 h[places, channels], x_norm[places, channels], q[places, channels], k[places, channels], v[places, channels]
//@ scratch f64 p[places, heads, max(height, width)]
//@ widen<<<ceildiv(count, 128), 128>>>(x, h, count)
//@ for (s = 0; s < 2; ++s) {
//@   let len = s == 0 ? width : height, inner = s == 0 ? 1 : width
//@   layer_norm<<<ceildiv(places, 64), 64>>>(h, offset(norm_gain, s*channels), offset(norm_bias, s*channels), x_norm, places, channels)
//@   linear<<<ceildiv(count, 128), 128>>>(x_norm, offset(w_qkv, 3*s*square), q, places, channels)
//@   linear<<<ceildiv(count, 128), 128>>>(x_norm, offset(w_qkv, (3*s + 1)*square), k, places, channels)
//@   linear<<<ceildiv(count, 128), 128>>>(x_norm, offset(w_qkv, (3*s + 2)*square), v, places, channels)
//@   logits<<<ceildiv(places*heads*len, 128), 128>>>(q, k, p, places*heads*len, len, inner, heads, hd)
//@   softmax<<<ceildiv(places*heads, 64), 64>>>(p, places*heads, len)
//@   gather<<<ceildiv(count, 128), 128>>>(p, v, q, count, len, inner, heads, hd)
//@   linear<<<ceildiv(count, 128), 128>>>(q, offset(w_out, s*square), k, places, channels)
//@   add<<<ceildiv(count, 128), 128>>>(h, k, offset(b_out, s*channels), count, channels)
//@ }
//@ copy(y, h)
#include <cmath>

__global__ void layer_norm(const double* x, const float* gain, const float* bias, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const double* v = x + r * width;
    double mean = 0, var = 0;
    for (int c = 0; c < width; ++c) mean += v[c] / width;
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

// Places that attend to each other are `inner` apart; there are `len` of them. p[place, h, m]
__global__ void logits(const double* q, const double* k, double* p, long long count, int len, int inner, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long m = i % len, h = i / len % heads, place = i / len / heads;
    long long r = place % inner, b = place / inner / len, other = (b * len + m) * inner + r;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(place * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[i] = sum / sqrt((double)hd);
}

__global__ void softmax(double* p, long long rows, int len) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double* at = p + row * len;
    double top = -INFINITY, total = 0;
    for (int m = 0; m < len; ++m) top = fmax(top, at[m]);
    for (int m = 0; m < len; ++m) {
        at[m] = exp(at[m] - top);
        total += at[m];
    }
    for (int m = 0; m < len; ++m) at[m] /= total;
}

__global__ void gather(const double* p, const double* v, double* o, long long count, int len, int inner, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long d = i % hd, h = i / hd % heads, place = i / hd / heads, r = place % inner, b = place / inner / len;
    double sum = 0;
    for (int m = 0; m < len; ++m)
        sum += p[(place * heads + h) * len + m] * v[(((b * len + m) * inner + r) * heads + h) * hd + d];
    o[i] = sum;
}

__global__ void widen(const float* x, double* h, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) h[i] = x[i];
}

__global__ void add(double* h, const double* change, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) h[i] += change[i] + bias[i % width];
}
