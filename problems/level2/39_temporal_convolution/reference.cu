//@ problem level2/39
//@ scratch f64 a[batch, channels, length]
//@ filter<<<ceildiv(batch*channels*length, 128), 128>>>(x, w_depth, b_depth, a, batch*channels*length, channels, length, taps, reach, dilation)
//@ project<<<ceildiv(batch*outputs*length, 128), 128>>>(a, w_point, b_point, y, batch*outputs*length, channels, outputs, length)
#include <cmath>

__global__ void filter(const float* x, const float* w, const float* bias, double* a, long long count, int channels, int length, int taps,
                       int reach, int dilation) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, row = at / length, c = row % channels;
    double sum = bias[c];
    for (int j = 0; j < taps; ++j) {
        long long from = t + (j - reach) * (long long)dilation;
        if (from >= 0 && from < length) sum += (double)w[c * taps + j] * x[row * length + from];
    }
    a[at] = sum / (1 + exp(-sum));
}

__global__ void project(const double* a, const float* w, const float* bias, double* y, long long count, int channels, int outputs, int length) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % outputs, b = at / length / outputs;
    double sum = bias[o];
    for (int c = 0; c < channels; ++c) sum += w[o * channels + c] * a[(b * channels + c) * length + t];
    y[at] = sum;
}
