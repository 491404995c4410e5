//@ problem level3/8
//@ let rows = batch*depth*res, pairs = batch*res*res, count = rows*channels, square = channels*channels, products = hidden*hidden
//@ scratch f64 x[rows, channels], q[rows, channels], k[rows, channels], v[rows, channels], gate[rows, channels], o[rows, channels]
//@ scratch f64 p[rows, heads, res], u[rows, hidden], w[rows, hidden], m[pairs, products], z[pairs, edge], r[pairs, edge]
//@ scratch f64 a[pairs, hidden], g[pairs, hidden], t[pairs, hidden], t_norm[pairs, hidden], tell[pairs, edge]
//@ layer_norm<float><<<ceildiv(rows, 64), 64>>>(msa, gain_msa, shift_msa, x, rows, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_qkv, q, rows, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, square), k, rows, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, offset(w_qkv, 2*square), v, rows, channels, channels)
//@ linear<<<ceildiv(count, 128), 128>>>(x, w_gate, gate, rows, channels, channels)
//@ logits<<<ceildiv(rows*heads*res, 128), 128>>>(q, k, p, rows*heads*res, res, heads, hd)
//@ softmax<<<ceildiv(rows*heads, 64), 64>>>(p, rows*heads, res)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, gate, b_gate, o, count, res, heads, hd)
//@ linear<<<ceildiv(count, 128), 128>>>(o, w_out, msa_out, rows, channels, channels)
//@ add<float><<<ceildiv(count, 128), 128>>>(msa_out, b_out, msa, count, channels)
//@ layer_norm<double><<<ceildiv(rows, 64), 64>>>(msa_out, offset(gain_msa, channels), offset(shift_msa, channels), x, rows, channels)
//@ linear<<<ceildiv(rows*hidden, 128), 128>>>(x, w_side, u, rows, channels, hidden)
//@ linear<<<ceildiv(rows*hidden, 128), 128>>>(x, offset(w_side, hidden*channels), w, rows, channels, hidden)
//@ add_bias<<<ceildiv(rows*hidden, 128), 128>>>(u, b_side, rows*hidden, hidden)
//@ add_bias<<<ceildiv(rows*hidden, 128), 128>>>(w, offset(b_side, hidden), rows*hidden, hidden)
//@ outer_mean<<<ceildiv(pairs*products, 128), 128>>>(u, w, m, pairs*products, depth, res, hidden)
//@ linear<<<ceildiv(pairs*edge, 128), 128>>>(m, w_mean, z, pairs, products, edge)
//@ add<float><<<ceildiv(pairs*edge, 128), 128>>>(z, b_mean, pair, pairs*edge, edge)
//@ layer_norm<double><<<ceildiv(pairs, 64), 64>>>(z, gain_pair, shift_pair, r, pairs, edge)
//@ linear<<<ceildiv(pairs*hidden, 128), 128>>>(r, w_tri, a, pairs, edge, hidden)
//@ linear<<<ceildiv(pairs*hidden, 128), 128>>>(r, offset(w_tri, hidden*edge), g, pairs, edge, hidden)
//@ add_bias<<<ceildiv(pairs*hidden, 128), 128>>>(a, b_tri, pairs*hidden, hidden)
//@ add_bias<<<ceildiv(pairs*hidden, 128), 128>>>(g, offset(b_tri, hidden), pairs*hidden, hidden)
//@ triangle<<<ceildiv(pairs*hidden, 128), 128>>>(a, g, t, pairs*hidden, res, hidden)
//@ layer_norm<double><<<ceildiv(pairs, 64), 64>>>(t, gain_tri, shift_tri, t_norm, pairs, hidden)
//@ linear<<<ceildiv(pairs*edge, 128), 128>>>(t_norm, w_up, pair_out, pairs, hidden, edge)
//@ linear<<<ceildiv(pairs*edge, 128), 128>>>(r, w_tell, tell, pairs, edge, edge)
//@ finish<<<ceildiv(pairs*edge, 128), 128>>>(pair_out, b_up, tell, b_tell, z, pairs*edge, edge)
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

__global__ void linear(const double* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

// p[b, s, i, h, j]
__global__ void logits(const double* q, const double* k, double* p, long long count, int res, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long j = at % res, h = at / res % heads, row = at / res / heads, other = row / res * res + j;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(row * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[at] = sum / sqrt((double)hd);
}

__global__ void softmax(double* p, long long rows, int res) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double* at = p + row * res;
    double top = -INFINITY, total = 0;
    for (int j = 0; j < res; ++j) top = fmax(top, at[j]);
    for (int j = 0; j < res; ++j) {
        at[j] = exp(at[j] - top);
        total += at[j];
    }
    for (int j = 0; j < res; ++j) at[j] /= total;
}

__global__ void gather(const double* p, const double* v, const double* gate, const float* b_gate, double* o, long long count,
                       int res, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, row = at / hd / heads, first = row / res * res;
    double sum = 0;
    for (int j = 0; j < res; ++j) sum += p[(row * heads + h) * res + j] * v[((first + j) * heads + h) * hd + d];
    o[at] = sum / (1 + exp(-(gate[at] + b_gate[h * hd + d])));
}

__global__ void add_bias(double* y, const float* bias, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += bias[i % width];
}

template <typename T>
__global__ void add(double* y, const float* bias, const T* old, long long count, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += (double)bias[i % width] + old[i];
}

__global__ void outer_mean(const double* u, const double* w, double* m, long long count, int depth, int res, int hidden) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long f = at % hidden, e = at / hidden % hidden, place = at / hidden / hidden, j = place % res, i = place / res % res, b = place / res / res;
    double sum = 0;
    for (int s = 0; s < depth; ++s) sum += u[((b * depth + s) * res + i) * hidden + e] * w[((b * depth + s) * res + j) * hidden + f];
    m[at] = sum / depth;
}

__global__ void triangle(const double* a, const double* g, double* t, long long count, int res, int hidden) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long h = at % hidden, place = at / hidden, j = place % res, i = place / res % res, b = place / res / res;
    double sum = 0;
    for (int k = 0; k < res; ++k) sum += a[((b * res + i) * res + k) * hidden + h] * g[((b * res + j) * res + k) * hidden + h];
    t[at] = sum;
}

__global__ void finish(double* y, const float* b_up, const double* tell, const float* b_tell, const double* z, long long count, int edge) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = z[i] + (y[i] + b_up[i % edge]) / (1 + exp(-(tell[i] + b_tell[i % edge])));
}
