//@ problem level3/1
//@ let count = batch*channels*length, square = 3*channels*channels
//@ scratch f64 h[batch, channels, length], a[batch, channels, length], part[batch, channels], mean[batch], var[batch]
//@ widen<<<ceildiv(count, 128), 128>>>(x, h, count)
//@ for (i = 0; i < blocks; ++i) {
//@   row_sums<<<ceildiv(batch*channels, 32), 32>>>(h, part, batch*channels, length)
//@   average<<<ceildiv(batch, 32), 32>>>(part, mean, batch, channels, length)
//@   row_squares<<<ceildiv(batch*channels, 32), 32>>>(h, mean, part, batch*channels, channels, length)
//@   average<<<ceildiv(batch, 32), 32>>>(part, var, batch, channels, length)
//@   activate<<<ceildiv(count, 128), 128>>>(h, mean, var, offset(gain, i*channels*length), offset(shift, i*channels*length), a, count, channels*length)
//@   convolve<<<ceildiv(count, 128), 128>>>(a, offset(w, i*square), offset(bias, i*channels), x, h, count, channels, length, 1 << i)
//@ }
//@ copy(y, h)
#include <cmath>

__global__ void widen(const float* x, double* h, long long count) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) h[at] = x[at];
}

__global__ void row_sums(const double* h, double* part, int rows, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int t = 0; t < length; ++t) sum += h[(long long)row * length + t];
    part[row] = sum;
}

__global__ void row_squares(const double* h, const double* mean, double* part, int rows, int channels, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int t = 0; t < length; ++t) {
        double v = h[(long long)row * length + t] - mean[row / channels];
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

__global__ void activate(const double* h, const double* mean, const double* var, const float* gain, const float* shift, double* a,
                         long long count, long long sample) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long b = at / sample;
    double v = (h[at] - mean[b]) / sqrt(var[b] + 1e-5) * gain[at % sample] + shift[at % sample];
    a[at] = v / 2 * (1 + erf(v / sqrt(2.0)));
}

__global__ void convolve(const double* a, const float* w, const float* bias, const float* x, double* h, long long count,
                         int channels, int length, int dilation) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % channels, b = at / length / channels;
    double sum = x[at] + (double)bias[o];
    for (int c = 0; c < channels; ++c)
        for (int j = 0; j < 3; ++j) {
            long long from = t + (j - 1) * dilation;
            if (from >= 0 && from < length) sum += w[(o * channels + c) * 3 + j] * a[(b * channels + c) * length + from];
        }
    h[at] = sum;
}
