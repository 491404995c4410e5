//@ problem level1/7
//@ let n = 2*pow2ceil(length), stages = log2ceil(length) + 1, rows = batch*channels, half = n/2
//@ scratch c128 turns[half], u[rows, n], v[rows, n], f[channels, n], g[channels, n]
//@ let from = u, to = v, filter_from = f, filter_to = g
//@ make_turns<<<ceildiv(half, 128), 128>>>(turns, half)
//@ pad<<<ceildiv(rows*n, 128), 128>>>(x, u, rows, length, n)
//@ pad<<<ceildiv(channels*n, 128), 128>>>(filter, f, channels, length, n)
//@ for (s = 0; s < stages; ++s) {
//@   stage<<<ceildiv(rows*half, 128), 128>>>(from, to, turns, rows*half, half, s, 1)
//@   swap(from, to)
//@   stage<<<ceildiv(channels*half, 128), 128>>>(filter_from, filter_to, turns, channels*half, half, s, 1)
//@   swap(filter_from, filter_to)
//@ }
//@ multiply<<<ceildiv(rows*n, 128), 128>>>(from, filter_from, rows*n, channels, n)
//@ for (s = 0; s < stages; ++s) {
//@   stage<<<ceildiv(rows*half, 128), 128>>>(from, to, turns, rows*half, half, s, -1)
//@   swap(from, to)
//@ }
//@ cut<<<ceildiv(rows*length, 128), 128>>>(from, y, rows*length, length, n)
// The convolution of rows that are padded with zeros to n >= 2*length is the inverse transform of the product of their
// transforms: y = F^-1(F x * F filter), F of n points by halving.
#include <cmath>

// exp(-2 pi i k/n)
__global__ void make_turns(double2* turns, long long half) {
    long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < half) turns[k] = {cospi((double)k / half), -sinpi((double)k / half)};
}

__global__ void pad(const float* x, double2* u, long long rows, int length, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    u[i] = {i % n < length ? (double)x[i / n * length + i % n] : 0.0, 0.0};
}

// Stage s joins transforms of 2^s points into ones of 2^(s+1); entries j of all of them lie together, order is kept.
// Direction 1 takes the turns as they are, -1 their conjugates.
__global__ void stage(const double2* from, double2* to, const double2* turns, long long count, long long half, int s, int direction) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long row = i / half, k = i % half, size = 1LL << s, j = k % size;
    const double2* own = from + row * 2 * half;
    double2 a = own[k], b = own[k + half], w = turns[j * (half / size)];
    w.y *= direction;
    double2 c = {b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x};
    double2* out = to + row * 2 * half + (k - j) * 2 + j;
    out[0] = {a.x + c.x, a.y + c.y};
    out[size] = {a.x - c.x, a.y - c.y};
}

__global__ void multiply(double2* u, const double2* f, long long count, int channels, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double2 a = u[i], b = f[i / n % channels * n + i % n];
    u[i] = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

__global__ void cut(const double2* u, double* y, long long count, int length, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = u[i / length * n + i % length].x / n;
}
