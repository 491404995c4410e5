//@ problem level2/28
//@ let area = height*width, rows = batch*channels, parts = batch*groups
//@ scratch f64 part[rows], mean[parts], var[parts]
//@ row_sums<<<ceildiv(rows, 32), 32>>>(x, part, rows, per, area)
//@ means<<<ceildiv(parts, 32), 32>>>(x, part, mean, parts, per, area)
//@ row_squares<<<ceildiv(rows, 32), 32>>>(x, mean, part, rows, per, area)
//@ variances<<<ceildiv(parts, 32), 32>>>(part, var, parts, per, area)
//@ finish<<<ceildiv(rows*area, 128), 128>>>(x, mean, var, gain, shift, y, rows*area, area, channels, per)
#include <cmath>

// A row is one channel of one image; the groups follow one another, `per` rows each. Sums are those of the differences
// from the first value of the group.
__global__ void row_sums(const float* x, double* part, int rows, int per, int area) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double first = x[(long long)(row / per) * per * area], sum = 0;
    for (int i = 0; i < area; ++i) sum += x[(long long)row * area + i] - first;
    part[row] = sum;
}

__global__ void means(const float* x, const double* part, double* mean, int parts, int per, int area) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= parts) return;
    double sum = 0;
    for (int c = 0; c < per; ++c) sum += part[g * per + c];
    mean[g] = x[(long long)g * per * area] + sum / per / area;
}

__global__ void row_squares(const float* x, const double* mean, double* part, int rows, int per, int area) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int i = 0; i < area; ++i) {
        double v = x[(long long)row * area + i] - mean[row / per];
        sum += v * v;
    }
    part[row] = sum;
}

__global__ void variances(const double* part, double* var, int parts, int per, int area) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= parts) return;
    double sum = 0;
    for (int c = 0; c < per; ++c) sum += part[g * per + c];
    var[g] = sum / per / area;
}

__global__ void finish(const float* x, const double* mean, const double* var, const float* gain, const float* shift, double* y,
                       long long count, int area, int channels, int per) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long row = at / area, c = row % channels, g = row / per;
    double z = (x[at] - mean[g]) / sqrt(var[g] + 1e-5) * gain[c] + shift[c];
    y[at] = z / (1 + exp(-z));
}
