//@ problem level2/5
//@ let count = batch*channels*length, rows = batch*channels
//@ scratch f64 a[batch, channels, length], part[rows], mean[batch], var[batch]
//@ row_sums<<<ceildiv(rows, 32), 32>>>(x, part, rows, length)
//@ average<<<ceildiv(batch, 32), 32>>>(part, mean, batch, channels, length)
//@ row_squares<<<ceildiv(rows, 32), 32>>>(x, mean, part, rows, channels, length)
//@ average<<<ceildiv(batch, 32), 32>>>(part, var, batch, channels, length)
//@ activate<<<ceildiv(count, 128), 128>>>(x, mean, var, gain, shift, a, count, channels*length)
//@ convolve<<<ceildiv(count, 128), 128>>>(a, w, bias, x, y, count, channels, length, taps, dilation)
#include <cmath>

__global__ void row_sums(const float* x, double* part, int rows, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int t = 0; t < length; ++t) sum += x[(long long)row * length + t];
    part[row] = sum;
}

__global__ void row_squares(const float* x, const double* mean, double* part, int rows, int channels, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int t = 0; t < length; ++t) {
        double v = x[(long long)row * length + t] - mean[row / channels];
        sum += v * v;
    }
    part[row] = sum;
}

__global__ void average(const double* part, double* out, int batch, int channels, int length) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    double sum = 0;
    for (int c = 0; c < channels; ++c) sum += part[b * channels + c];
    out[b] = sum / channels / length;
}

__global__ void activate(const float* x, const double* mean, const double* var, const float* gain, const float* shift, double* a,
                         long long count, long long sample) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long b = at / sample;
    double v = (x[at] - mean[b]) / sqrt(var[b] + 1e-5) * gain[at % sample] + shift[at % sample];
    a[at] = v / 2 * (1 + erf(v / sqrt(2.0)));
}

__global__ void convolve(const double* a, const float* w, const float* bias, const float* x, double* y, long long count,
                         int channels, int length, int taps, int dilation) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % channels, b = at / length / channels;
    double sum = bias[o];
    for (int c = 0; c < channels; ++c)
        for (int j = 0; j < taps; ++j) {
            long long from = t + (j - taps / 2) * dilation;
            if (from >= 0 && from < length) sum += w[(o * channels + c) * taps + j] * a[(b * channels + c) * length + from];
        }
    y[at] = x[at] + sum;
}
