//@ problem level2/14
//@ let pairs = batch*n*n, narrow = ceildiv(pairs*hidden, 128), wide = ceildiv(pairs*channels, 128)
//@ scratch f64 x[pairs, channels], a[pairs, hidden], a_gate[pairs, hidden], g[pairs, hidden], g_gate[pairs, hidden]
//@ scratch f64 t[pairs, hidden], t_norm[pairs, hidden], gate[pairs, channels]
//@ layer_norm<f32><<<ceildiv(pairs, 64), 64>>>(z, norm_in_gain, norm_in_bias, x, pairs, channels)
//@ linear<f64><<<narrow, 128>>>(x, w_in, b_in, a, pairs, channels, hidden)
//@ linear<f64><<<narrow, 128>>>(x, offset(w_in, hidden*channels), offset(b_in, hidden), a_gate, pairs, channels, hidden)
//@ linear<f64><<<narrow, 128>>>(x, offset(w_in, 2*hidden*channels), offset(b_in, 2*hidden), g, pairs, channels, hidden)
//@ linear<f64><<<narrow, 128>>>(x, offset(w_in, 3*hidden*channels), offset(b_in, 3*hidden), g_gate, pairs, channels, hidden)
//@ multiply<<<narrow, 128>>>(a, a_gate, mask, pairs, hidden)
//@ multiply<<<narrow, 128>>>(g, g_gate, mask, pairs, hidden)
//@ triangle<<<narrow, 128>>>(a, g, t, pairs, n, hidden)
//@ layer_norm<f64><<<ceildiv(pairs, 64), 64>>>(t, norm_out_gain, norm_out_bias, t_norm, pairs, hidden)
//@ linear<f64><<<wide, 128>>>(t_norm, w_out, b_out, y, pairs, hidden, channels)
//@ linear<f32><<<wide, 128>>>(z, w_gate, b_gate, gate, pairs, channels, channels)
//@ finish<<<wide, 128>>>(y, gate, pairs*channels)
#include <cmath>

template <typename T>
__device__ void normalize(const T* v, const float* gain, const float* bias, double* out, int width) {
    double mean = 0, var = 0;
    for (int c = 0; c < width; ++c) mean += (double)v[c] / width;
    for (int c = 0; c < width; ++c) var += (v[c] - mean) * (v[c] - mean) / width;
    for (int c = 0; c < width; ++c) out[c] = (v[c] - mean) / sqrt(var + 1e-5) * gain[c] + bias[c];
}

template <typename T>
__global__ void layer_norm(const T* x, const float* gain, const float* bias, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) normalize(x + r * width, gain, bias, out + r * width, width);
}

template <typename T>
__global__ void linear(const T* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void multiply(double* v, const double* gate, const float* mask, long long pairs, int hidden) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs * hidden) v[i] *= mask[i / hidden] / (1 + exp(-gate[i]));
}

__global__ void triangle(const double* a, const double* g, double* t, long long pairs, int n, int hidden) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= pairs * hidden) return;
    long long h = at % hidden, j = at / hidden % n, i = at / hidden / n % n, b = at / hidden / n / n;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[((b * n + i) * n + k) * hidden + h] * g[((b * n + j) * n + k) * hidden + h];
    t[at] = sum;
}

__global__ void finish(double* y, const double* gate, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] /= 1 + exp(-gate[i]);
}
