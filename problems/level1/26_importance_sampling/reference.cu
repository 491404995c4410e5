//@ problem level1/26
//@ scratch f64 log_weight[batch, samples]
//@ weigh<<<ceildiv(batch*samples, 64), 64>>>(x, center, log_share, log_weight, spread, batch*samples, axes, components)
//@ estimate<<<(batch, axes), 1>>>(x, log_weight, mean, ess, samples, axes)
#include <cmath>

__global__ void weigh(const float* x, const float* center, const float* log_share, double* log_weight, float spread,
                      long long count, int axes, int components) {
    long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    double top = -INFINITY, sum = 0, square = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < components; ++k) {
            double d2 = 0;
            for (int d = 0; d < axes; ++d) {
                double off = (double)x[n * axes + d] - center[k * axes + d];
                d2 += off * off;
            }
            double exponent = log_share[k] - d2 / 2;
            if (pass == 0) top = fmax(top, exponent);
            if (pass == 1) sum += exp(exponent - top);
        }
    for (int d = 0; d < axes; ++d) square += (double)x[n * axes + d] * x[n * axes + d];
    log_weight[n] = top + log(sum) + square / (2.0 * spread * spread);
}

// One thread for each axis of a batch entry.
__global__ void estimate(const float* x, const double* log_weight, double* mean, double* ess, int samples, int axes) {
    long long b = blockIdx.x, d = blockIdx.y;
    double top = -INFINITY, sum = 0, squares = 0, moment = 0;
    for (long long n = b * samples; n < (b + 1) * samples; ++n) top = fmax(top, log_weight[n]);
    for (long long n = b * samples; n < (b + 1) * samples; ++n) {
        double w = exp(log_weight[n] - top);
        sum += w;
        squares += w * w;
        moment += w * x[n * axes + d];
    }
    mean[b * axes + d] = moment / sum;
    if (d == 0) ess[b] = sum * sum / squares;
}
