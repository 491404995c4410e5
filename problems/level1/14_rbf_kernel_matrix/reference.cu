//@ problem level1/14
//@ covariance<<<ceildiv(batch*rows*cols, 128), 128>>>(x1, x2, cov, log_length, log_variance, batch, rows, cols, axes)
#include <cmath>

__global__ void covariance(const float* x1, const float* x2, double* cov, float log_length, float log_variance,
                           int batch, int rows, int cols, int axes) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)batch * rows * cols) return;
    long long j = at % cols, i = at / cols % rows, n = at / cols / rows;
    double d2 = 0;
    for (int c = 0; c < axes; ++c) {
        double d = (double)x1[(n * rows + i) * axes + c] - x2[(n * cols + j) * axes + c];
        d2 += d * d;
    }
    double length = exp((double)log_length);
    cov[at] = exp((double)log_variance) * exp(-d2 / (2 * length * length));
}
