//@ problem level2/35
//@ let count = batch*cout*length
//@ scratch f64 a[batch, cout, length], mean[batch, groups], var[batch, groups]
//@ convolve<<<ceildiv(count, 128), 128>>>(x, w, bias, a, count, cin, cout, length, taps, reach)
//@ moments<<<ceildiv(batch*groups, 32), 32>>>(a, mean, var, batch*groups, width*length)
//@ normalize<<<ceildiv(count, 128), 128>>>(a, mean, var, gain, shift, y, count, cout, width, length)
#include <cmath>

__global__ void convolve(const float* x, const float* w, const float* bias, double* a, long long count, int cin, int cout, int length,
                         int taps, int reach) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % cout, b = at / length / cout;
    double sum = bias[o];
    for (int c = 0; c < cin; ++c)
        for (int j = 0; j < taps; ++j) {
            long long from = t + j - reach;
            if (from >= 0 && from < length) sum += (double)w[(o * cin + c) * taps + j] * x[(b * cin + c) * length + from];
        }
    a[at] = sum;
}

// The channels of a group lie one after the other.
__global__ void moments(const double* a, double* mean, double* var, long long count, long long size) {
    long long g = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= count) return;
    const double* own = a + g * size;
    double sum = 0, squares = 0;
    for (long long i = 0; i < size; ++i) sum += own[i];
    for (long long i = 0; i < size; ++i) squares += (own[i] - sum / size) * (own[i] - sum / size);
    mean[g] = sum / size;
    var[g] = squares / size;
}

__global__ void normalize(const double* a, const double* mean, const double* var, const float* gain, const float* shift, double* y,
                          long long count, int cout, int width, int length) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long o = at / length % cout, group = at / length / width;
    y[at] = (a[at] - mean[group]) / sqrt(var[group] + 1e-5) * gain[o] + shift[o];
}
