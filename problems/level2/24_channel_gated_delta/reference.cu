//@ problem level2/24
//@ let rows = batch*len*heads
//@ scratch f64 qs[rows, kd], ks[rows, kd], gate[rows, kd]
//@ normalize<<<ceildiv(rows, 64), 64>>>(q, qs, rows, kd)
//@ normalize<<<ceildiv(rows, 64), 64>>>(k, ks, rows, kd)
//@ fade<<<ceildiv(rows*kd, 128), 128>>>(decay, gate, rows*kd)
//@ scan<<<ceildiv(batch*heads*vd, 32), 32>>>(qs, ks, v, gate, beta, y, size, batch*heads*vd, len, heads, kd, vd)
//@ average<<<ceildiv(rows, 64), 64>>>(size, rows, vd)
#include <cmath>

__global__ void normalize(const float* x, double* out, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double square = 0;
    for (int c = 0; c < width; ++c) square += (double)x[r * width + c] * x[r * width + c];
    for (int c = 0; c < width; ++c) out[r * width + c] = x[r * width + c] / sqrt(square + 1e-6);
}

__global__ void fade(const float* decay, double* gate, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) gate[i] = exp((double)decay[i]);
}

// A thread follows one column of the memory.
__global__ void scan(const double* q, const double* k, const float* v, const double* gate, const float* beta, double* y,
                     double* size, int columns, int len, int heads, int kd, int vd) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= columns) return;
    long long e = i % vd, h = i / vd % heads, b = i / vd / heads;
    double memory[128];
    for (int c = 0; c < kd; ++c) memory[c] = 0;
    for (int t = 0; t < len; ++t) {
        long long at = (b * len + t) * heads + h;
        double answer = 0, sum = 0, square = 0;
        for (int c = 0; c < kd; ++c) {
            memory[c] *= gate[at * kd + c];
            answer += k[at * kd + c] * memory[c];
        }
        double u = beta[at] * (v[at * vd + e] - answer);
        for (int c = 0; c < kd; ++c) {
            memory[c] += k[at * kd + c] * u;
            sum += q[at * kd + c] * memory[c];
            square += memory[c] * memory[c];
        }
        y[at * vd + e] = sum;
        size[at * vd + e] = square / kd;
    }
}

// The mean squares of the columns become their root mean square.
__global__ void average(double* size, long long rows, int width) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double square = 0;
    for (int e = 0; e < width; ++e) square += size[r * width + e];
    for (int e = 0; e < width; ++e) size[r * width + e] = sqrt(square / width);
}
