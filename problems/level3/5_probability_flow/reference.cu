//@ problem level3/5
//@ scratch f64 z[batch, dim + 1], a[batch, hidden], c[batch, hidden], v[batch, dim]
//@ start<<<ceildiv(batch*dim, 128), 128>>>(x, z, batch, dim)
//@ for (k = 0; k < steps; ++k) {
//@   set_time<<<ceildiv(batch, 128), 128>>>(z, batch, dim, k, steps)
//@   linear<<<ceildiv(batch*hidden, 128), 128>>>(z, w_in, b_in, a, batch, dim + 1, hidden)
//@   silu<<<ceildiv(batch*hidden, 128), 128>>>(a, batch*hidden)
//@   linear<<<ceildiv(batch*hidden, 128), 128>>>(a, w_mid, b_mid, c, batch, hidden, hidden)
//@   silu<<<ceildiv(batch*hidden, 128), 128>>>(c, batch*hidden)
//@   linear<<<ceildiv(batch*dim, 128), 128>>>(c, w_out, b_out, v, batch, hidden, dim)
//@   advance<<<ceildiv(batch*dim, 128), 128>>>(z, v, batch, dim, steps)
//@ }
//@ finish<<<ceildiv(batch*dim, 128), 128>>>(z, y, batch, dim)
#include <cmath>

// z keeps the time behind each sample.
__global__ void start(const float* x, double* z, long long batch, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * dim) z[i / dim * (dim + 1) + i % dim] = x[i];
}

__global__ void set_time(double* z, long long batch, int dim, int k, int steps) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b < batch) z[b * (dim + 1) + dim] = (k + 0.5) / steps;
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

__global__ void advance(double* z, const double* v, long long batch, int dim, int steps) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * dim) z[i / dim * (dim + 1) + i % dim] += v[i] / steps;
}

__global__ void finish(const double* z, double* y, long long batch, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * dim) y[i] = z[i / dim * (dim + 1) + i % dim];
}
