//@ problem level2/12
//@ let count = batch*channels*length, rows = batch*channels
//@ scratch f64 a[batch, channels, length], part[rows], mean[channels], var[channels]
//@ row_sums<<<ceildiv(rows, 32), 32>>>(x, part, rows, channels, length)
//@ means<<<ceildiv(channels, 32), 32>>>(x, part, mean, batch, channels, length)
//@ row_squares<<<ceildiv(rows, 32), 32>>>(x, mean, part, rows, channels, length)
//@ variances<<<ceildiv(channels, 32), 32>>>(part, var, batch, channels, length)
//@ activate<<<ceildiv(count, 128), 128>>>(x, mean, var, gain, shift, a, count, channels, length)
//@ convolve<<<ceildiv(count, 128), 128>>>(a, w, bias, x, y, count, channels, length, taps, dilation)
//@ follow<<<ceildiv(channels, 32), 32>>>(mean, var, mean_run, var_run, mean_next, var_next, momentum, channels, batch*length)
#include <cmath>

// A row is one channel of one sample. Sums are those of the differences from the channel's first value.
__global__ void row_sums(const float* x, double* part, int rows, int channels, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double first = x[(long long)(row % channels) * length], sum = 0;
    for (int t = 0; t < length; ++t) sum += x[(long long)row * length + t] - first;
    part[row] = sum;
}

__global__ void means(const float* x, const double* part, double* mean, int batch, int channels, int length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    double sum = 0;
    for (int b = 0; b < batch; ++b) sum += part[b * channels + c];
    mean[c] = x[(long long)c * length] + sum / batch / length;
}

__global__ void row_squares(const float* x, const double* mean, double* part, int rows, int channels, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int t = 0; t < length; ++t) {
        double v = x[(long long)row * length + t] - mean[row % channels];
        sum += v * v;
    }
    part[row] = sum;
}

__global__ void variances(const double* part, double* var, int batch, int channels, int length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    double sum = 0;
    for (int b = 0; b < batch; ++b) sum += part[b * channels + c];
    var[c] = sum / batch / length;
}

__global__ void activate(const float* x, const double* mean, const double* var, const float* gain, const float* shift, double* a,
                         long long count, int channels, int length) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int c = (int)(at / length % channels);
    double v = (x[at] - mean[c]) / sqrt(var[c] + 1e-5) * gain[c] + shift[c];
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

__global__ void follow(const double* mean, const double* var, const float* mean_run, const float* var_run, double* mean_next,
                       double* var_next, float momentum, int channels, long long n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    mean_next[c] = (1 - (double)momentum) * mean_run[c] + momentum * mean[c];
    var_next[c] = (1 - (double)momentum) * var_run[c] + momentum * var[c] * n / (n - 1);
}
