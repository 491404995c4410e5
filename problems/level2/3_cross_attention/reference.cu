//@ problem level2/3
//@ let asked = batch*queries, given = batch*keys, square = channels*channels
//@ scratch f64 q[asked, channels], k[given, channels], v[given, channels], p[asked, heads, keys], o[asked, channels]
//@ linear<float><<<ceildiv(asked*channels, 128), 128>>>(x, w_q, q, asked, channels, channels)
//@ linear<float><<<ceildiv(given*channels, 128), 128>>>(context, w_kv, k, given, channels, channels)
//@ linear<float><<<ceildiv(given*channels, 128), 128>>>(context, offset(w_kv, square), v, given, channels, channels)
//@ turn<<<ceildiv(asked*heads*pairs, 128), 128>>>(q, inv_freq, asked, queries, heads, pairs)
//@ turn<<<ceildiv(given*heads*pairs, 128), 128>>>(k, inv_freq, given, keys, heads, pairs)
//@ logits<<<ceildiv(asked*heads*keys, 128), 128>>>(q, k, p, asked*heads*keys, queries, keys, heads, hd)
//@ softmax<<<ceildiv(asked*heads, 64), 64>>>(p, asked*heads, keys)
//@ gather<<<ceildiv(asked*channels, 128), 128>>>(p, v, o, asked*channels, queries, keys, heads, hd)
//@ linear<double><<<ceildiv(asked*channels, 128), 128>>>(o, w_out, y, asked, channels, channels)
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

__global__ void turn(double* v, const float* inv_freq, long long rows, int length, int heads, int pairs) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * heads * pairs) return;
    long long i = at % pairs, head = at / pairs, t = head / heads % length;
    double angle = __fmul_rn((float)t, inv_freq[i]);
    double* low = v + head * 2 * pairs + i;
    double a = low[0], b = low[pairs];
    low[0] = a * cos(angle) - b * sin(angle);
    low[pairs] = b * cos(angle) + a * sin(angle);
}

// p[b, s, h, m]
__global__ void logits(const double* q, const double* k, double* p, long long count, int queries, int keys, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long m = i % keys, h = i / keys % heads, row = i / keys / heads, other = row / queries * keys + m;
    double sum = 0;
    for (int d = 0; d < hd; ++d) sum += q[(row * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[i] = sum / sqrt((double)hd);
}

__global__ void softmax(double* p, long long rows, int keys) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double* at = p + row * keys;
    double top = -INFINITY, total = 0;
    for (int m = 0; m < keys; ++m) top = fmax(top, at[m]);
    for (int m = 0; m < keys; ++m) {
        at[m] = exp(at[m] - top);
        total += at[m];
    }
    for (int m = 0; m < keys; ++m) at[m] /= total;
}

__global__ void gather(const double* p, const double* v, double* o, long long count, int queries, int keys, int heads, int hd) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long d = i % hd, h = i / hd % heads, row = i / hd / heads, b = row / queries;
    double sum = 0;
    for (int m = 0; m < keys; ++m) sum += p[(row * heads + h) * keys + m] * v[((b * keys + m) * heads + h) * hd + d];
    o[i] = sum;
}
