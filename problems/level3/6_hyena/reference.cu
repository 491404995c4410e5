//@ problem level3/6
//@ let times = batch*length, count = batch*length*channels, square = channels*channels
//@ let n = 2*pow2ceil(length), stages = log2ceil(length) + 1, rows = batch*channels, half = n/2
//@ scratch f64 v[times, channels], q[times, channels], k[times, channels], hidden_values[length, hidden], filter[length, channels]
//@ scratch f64 mixed[times, channels]
//@ scratch c128 turns[half], u[rows, n], spare[rows, n], f[channels, n], g[channels, n]
//@ let from = u, to = spare, filter_from = f, filter_to = g
//@ linear<float><<<ceildiv(count, 128), 128>>>(x, w_in, b_in, v, times, channels, channels)
//@ linear<float><<<ceildiv(count, 128), 128>>>(x, offset(w_in, square), offset(b_in, channels), q, times, channels, channels)
//@ linear<float><<<ceildiv(count, 128), 128>>>(x, offset(w_in, 2*square), offset(b_in, 2*channels), k, times, channels, channels)
//@ first_layer<<<ceildiv(length*hidden, 128), 128>>>(w_1, b_1, hidden_values, length, hidden)
//@ linear<double><<<ceildiv(length*channels, 128), 128>>>(hidden_values, w_2, b_2, filter, length, hidden, channels)
//@ make_turns<<<ceildiv(half, 128), 128>>>(turns, half)
//@ pad<<<ceildiv(rows*n, 128), 128>>>(v, u, rows, channels, length, n)
//@ pad<<<ceildiv(channels*n, 128), 128>>>(filter, f, channels, channels, length, n)
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
//@ gate<<<ceildiv(count, 128), 128>>>(from, q, k, w_gate, b_gate, mixed, count, length, channels, n)
//@ linear<double><<<ceildiv(count, 128), 128>>>(mixed, w_out, b_out, y, times, channels, channels)
// The convolution of rows that are padded with zeros to n >= 2*length is the inverse transform of the product of their
// transforms: f = F^-1(F v * F filter), F of n points by halving.
#include <cmath>

template <typename T>
__global__ void linear(const T* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void first_layer(const float* w, const float* bias, double* out, int length, int hidden) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)length * hidden) return;
    double place = length > 1 ? (double)(i / hidden) / (length - 1) : 0.0;
    double a = w[i % hidden] * place + bias[i % hidden];
    out[i] = a / (1 + exp(-a));
}

// exp(-2 pi i k/n)
__global__ void make_turns(double2* turns, long long half) {
    long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < half) turns[k] = {cospi((double)k / half), -sinpi((double)k / half)};
}

// From [.., length, channels] to rows of n.
__global__ void pad(const double* v, double2* u, long long rows, int channels, int length, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    long long t = i % n, c = i / n % channels, b = i / n / channels;
    u[i] = {t < length ? v[(b * length + t) * channels + c] : 0.0, 0.0};
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

// Three taps around time t of channel c.
__device__ double near(const double* s, long long i, const float* w, const float* bias, long long t, long long c, int length, int channels) {
    double sum = bias[c] + w[c * 3 + 1] * s[i];
    if (t > 0) sum += w[c * 3] * s[i - channels];
    if (t + 1 < length) sum += w[c * 3 + 2] * s[i + channels];
    return sum;
}

__global__ void gate(const double2* u, const double* q, const double* k, const float* w_gate, const float* b_gate, double* mixed,
                     long long count, int length, int channels, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long c = i % channels, t = i / channels % length, b = i / channels / length;
    double first = near(q, i, w_gate, b_gate, t, c, length, channels);
    double second = near(k, i, w_gate + channels * 3, b_gate + channels, t, c, length, channels);
    mixed[i] = u[(b * channels + c) * n + t].x / n * first * second;
}
