//@ problem level3/2
//@ scratch f64 z[batch, dim + 1], a[batch, hidden], c[batch, hidden], eps[batch, dim]
//@ begin<<<ceildiv(batch*dim, 128), 128>>>(x, z, batch, dim)
//@ for (k = 0; k < steps; ++k) {
//@   set_time<<<ceildiv(batch, 128), 128>>>(z, start, batch, dim, k, times)
//@   linear<<<ceildiv(batch*hidden, 128), 128>>>(z, w_in, b_in, a, batch, dim + 1, hidden)
//@   silu<<<ceildiv(batch*hidden, 128), 128>>>(a, batch*hidden)
//@   linear<<<ceildiv(batch*hidden, 128), 128>>>(a, w_mid, b_mid, c, batch, hidden, hidden)
//@   silu<<<ceildiv(batch*hidden, 128), 128>>>(c, batch*hidden)
//@   linear<<<ceildiv(batch*dim, 128), 128>>>(c, w_out, b_out, eps, batch, hidden, dim)
//@   step_back<<<ceildiv(batch*dim, 128), 128>>>(z, eps, start, beta, sigma, batch, dim, k)
//@ }
//@ finish<<<ceildiv(batch*dim, 128), 128>>>(z, y, batch, dim)
#include <cmath>

// z keeps the time behind each sample.
__global__ void begin(const float* x, double* z, long long batch, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * dim) z[i / dim * (dim + 1) + i % dim] = x[i];
}

__device__ long long time_of(long long start, int k) { return start > k ? start - k : 0; }

__global__ void set_time(double* z, const long long* start, long long batch, int dim, int k, int times) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b < batch) z[b * (dim + 1) + dim] = (double)time_of(start[b], k) / times;
}

__global__ void linear(const double* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void silu(double* v, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) v[i] /= 1 + exp(-v[i]);
}

__global__ void step_back(double* z, const double* eps, const long long* start, const float* beta, const float* sigma,
                          long long batch, int dim, int k) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * dim) return;
    long long t = time_of(start[i / dim], k);
    double* own = z + i / dim * (dim + 1) + i % dim;
    *own = (*own - (double)beta[t] / sigma[t] * eps[i]) / sqrt(1 - (double)beta[t]);
}

__global__ void finish(const double* z, double* y, long long batch, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * dim) y[i] = z[i / dim * (dim + 1) + i % dim];
}
