//@ problem level2/36
//@ let places = batch*n, square = channels*channels, joined = channels + grasp
//@ scratch f64 x[places, channels], q[places, channels], k[places, channels], v[places, channels]
//@ scratch f64 a[places, reach], e[places, reach], g[places, grasp], m[places, heads, n], both[places, joined]
//@ layer_norm<float><<<ceildiv(places, 64), 64>>>(node, norm_gain, norm_bias, x, places, channels)
//@ linear<double><<<ceildiv(places*channels, 128), 128>>>(x, w_qkv, q, places, channels, channels)
//@ linear<double><<<ceildiv(places*channels, 128), 128>>>(x, offset(w_qkv, square), k, places, channels, channels)
//@ linear<double><<<ceildiv(places*channels, 128), 128>>>(x, offset(w_qkv, 2*square), v, places, channels, channels)
//@ linear<double><<<ceildiv(places*reach, 128), 128>>>(x, w_qp, a, places, channels, reach)
//@ linear<double><<<ceildiv(places*reach, 128), 128>>>(x, w_kp, e, places, channels, reach)
//@ linear<double><<<ceildiv(places*grasp, 128), 128>>>(x, w_vp, g, places, channels, grasp)
//@ move<<<ceildiv(places*reach/3, 128), 128>>>(a, rot, trans, places*reach/3, reach/3)
//@ move<<<ceildiv(places*reach/3, 128), 128>>>(e, rot, trans, places*reach/3, reach/3)
//@ move<<<ceildiv(places*grasp/3, 128), 128>>>(g, rot, trans, places*grasp/3, grasp/3)
//@ logits<<<ceildiv(places*heads*n, 128), 128>>>(q, k, a, e, pair, w_pair, w_near, m, places*heads*n, n, heads, hd, asked, edge)
//@ softmax<<<ceildiv(places*heads, 64), 64>>>(m, places*heads, n)
//@ features<<<ceildiv(places*channels, 128), 128>>>(m, v, both, places*channels, n, heads, hd, joined)
//@ points<<<ceildiv(places*grasp/3, 128), 128>>>(m, g, rot, trans, both, places*grasp/3, n, heads, told, channels)
//@ linear<double><<<ceildiv(places*channels, 128), 128>>>(both, w_out, y, places, joined, channels)
//@ add<<<ceildiv(places*channels, 128), 128>>>(y, b_out, places*channels, channels)
#include <cmath>

template <typename T>
__global__ void layer_norm(const T* x, const float* gain, const float* bias, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const T* v = x + r * width;
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

// Points of a residue from its frame into space.
__global__ void move(double* points, const float* rot, const float* trans, long long count, int each) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* r = rot + i / each * 9;
    double p[3] = {points[i * 3], points[i * 3 + 1], points[i * 3 + 2]};
    for (int c = 0; c < 3; ++c) points[i * 3 + c] = r[c * 3] * p[0] + r[c * 3 + 1] * p[1] + r[c * 3 + 2] * p[2] + trans[i / each * 3 + c];
}

// m[b, i, h, j]
__global__ void logits(const double* q, const double* k, const double* a, const double* e, const float* pair, const float* w_pair,
                       const float* w_near, double* m, long long count, int n, int heads, int hd, int asked, int edge) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long j = at % n, h = at / n % heads, place = at / n / heads, other = place / n * n + j;
    double like = 0, bias = 0, far = 0;
    for (int d = 0; d < hd; ++d) like += q[(place * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    for (int c = 0; c < edge; ++c) bias += (double)w_pair[h * edge + c] * pair[(place * n + j) * edge + c];
    for (int c = 0; c < 3 * asked; ++c) {
        double apart = a[(place * heads + h) * 3 * asked + c] - e[(other * heads + h) * 3 * asked + c];
        far += apart * apart;
    }
    double weight = fmax((double)w_near[h], 0.0) + log1p(exp(-fabs((double)w_near[h])));
    m[at] = like / sqrt((double)hd) + bias - weight * far / 2;
}

__global__ void softmax(double* m, long long rows, int n) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double* at = m + row * n;
    double top = -INFINITY, total = 0;
    for (int j = 0; j < n; ++j) top = fmax(top, at[j]);
    for (int j = 0; j < n; ++j) {
        at[j] = exp(at[j] - top);
        total += at[j];
    }
    for (int j = 0; j < n; ++j) at[j] /= total;
}

__global__ void features(const double* m, const double* v, double* both, long long count, int n, int heads, int hd, int joined) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long d = i % hd, h = i / hd % heads, place = i / hd / heads, first = place / n * n;
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += m[(place * heads + h) * n + j] * v[((first + j) * heads + h) * hd + d];
    both[place * joined + h * hd + d] = sum;
}

// A thread for each point: its mean, taken back into the frame.
__global__ void points(const double* m, const double* g, const float* rot, const float* trans, double* both, long long count,
                       int n, int heads, int told, int channels) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long p = i % told, h = i / told % heads, place = i / told / heads, first = place / n * n, each = heads * told;
    double sum[3] = {0, 0, 0};
    for (int c = 0; c < 3; ++c) {
        for (int j = 0; j < n; ++j) sum[c] += m[(place * heads + h) * n + j] * g[((first + j) * each + h * told + p) * 3 + c];
        sum[c] -= trans[place * 3 + c];
    }
    const float* r = rot + place * 9;
    double* to = both + place * (channels + each * 3) + channels + (h * told + p) * 3;
    for (int c = 0; c < 3; ++c) to[c] = r[c] * sum[0] + r[3 + c] * sum[1] + r[6 + c] * sum[2];
}

__global__ void add(double* y, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += bias[i % width];
}
