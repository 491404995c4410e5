//@ problem level2/19
//@ let inner = batch*hidden*length, outer = batch*channels*length
//@ scratch f64 u[batch, hidden, length], a[batch, hidden, length]
//@ pointwise<float><<<ceildiv(inner, 128), 128>>>(x, w_in, b_in, u, inner, channels, hidden, length)
//@ depthwise<<<ceildiv(inner, 128), 128>>>(u, w_depth, b_depth, a, inner, hidden, length, taps)
//@ gelu<<<ceildiv(inner, 128), 128>>>(a, inner)
//@ pointwise<double><<<ceildiv(outer, 128), 128>>>(a, w_out, b_out, y, outer, hidden, channels, length)
//@ add<<<ceildiv(outer, 128), 128>>>(x, y, outer)
#include <cmath>

template <typename T>
__global__ void pointwise(const T* x, const float* w, const float* bias, double* y, long long count, int in, int out, int length) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % out, b = at / length / out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += (double)w[o * in + c] * x[(b * in + c) * length + t];
    y[at] = sum;
}

__global__ void depthwise(const double* u, const float* w, const float* bias, double* v, long long count, int channels, int length,
                          int taps) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, row = at / length, c = row % channels;
    double sum = bias[c];
    for (int j = 0; j < taps; ++j) {
        long long from = t + j - taps / 2;
        if (from >= 0 && from < length) sum += w[c * taps + j] * u[row * length + from];
    }
    v[at] = sum;
}

__global__ void gelu(double* a, long long count) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) a[at] = a[at] / 2 * (1 + erf(a[at] / sqrt(2.0)));
}

__global__ void add(const float* x, double* y, long long count) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) y[at] += x[at];
}
