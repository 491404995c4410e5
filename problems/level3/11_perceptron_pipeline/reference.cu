//@ problem level3/11
//@ scratch f64 a[batch, d_a], c[batch, d_c]
//@ linear<float><<<ceildiv(batch*d_a, 128), 128>>>(x, w_first, a, batch, d_in, d_a)
//@ silu<<<ceildiv(batch*d_a, 128), 128>>>(a, batch*d_a)
//@ linear<double><<<ceildiv(batch*d_c, 128), 128>>>(a, w_second, c, batch, d_a, d_c)
//@ silu<<<ceildiv(batch*d_c, 128), 128>>>(c, batch*d_c)
//@ linear<double><<<ceildiv(batch*d_out, 128), 128>>>(c, w_third, y, batch, d_c, d_out)
#include <cmath>

template <typename T>
__global__ void linear(const T* x, const float* w, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void silu(double* v, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) v[i] = v[i] / (1 + exp(-v[i]));
}
