//@ problem level1/7
//@ const THREADS = 256
//@ let n = 2*pow2ceil(length), bits = log2ceil(length) + 1, pairs = ceildiv(batch, 2), rows = pairs*channels
//@ scratch c64 u[rows, n], v[rows, n], f[channels, n], g[channels, n]
//@ let from = u, to = v, filter_from = f, filter_to = g
//@ pad<<<ceildiv(rows*n, THREADS), THREADS>>>(x, u, rows*n, batch, channels, length, n)
//@ pad<<<ceildiv(channels*n, THREADS), THREADS>>>(filter, f, channels*n, 1, channels, length, n)
//@ if (bits % 3 == 1) {
//@   pass<2><<<ceildiv(rows*n/2, THREADS), THREADS>>>(from, to, rows*n/2, n, 1, -1.0)
//@   pass<2><<<ceildiv(channels*n/2, THREADS), THREADS>>>(filter_from, filter_to, channels*n/2, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ if (bits % 3 == 2) {
//@   pass<4><<<ceildiv(rows*n/4, THREADS), THREADS>>>(from, to, rows*n/4, n, 1, -1.0)
//@   pass<4><<<ceildiv(channels*n/4, THREADS), THREADS>>>(filter_from, filter_to, channels*n/4, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ for (b = bits % 3; b < bits; b += 3) {
//@   pass<8><<<ceildiv(rows*n/8, THREADS), THREADS>>>(from, to, rows*n/8, n, 1 << b, -1.0)
//@   pass<8><<<ceildiv(channels*n/8, THREADS), THREADS>>>(filter_from, filter_to, channels*n/8, n, 1 << b, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ multiply<<<ceildiv(rows*n, THREADS), THREADS>>>(from, filter_from, rows*n, channels, n)
//@ if (bits % 3 == 1) {
//@   pass<2><<<ceildiv(rows*n/2, THREADS), THREADS>>>(from, to, rows*n/2, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ if (bits % 3 == 2) {
//@   pass<4><<<ceildiv(rows*n/4, THREADS), THREADS>>>(from, to, rows*n/4, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ for (b = bits % 3; b < bits; b += 3) {
//@   pass<8><<<ceildiv(rows*n/8, THREADS), THREADS>>>(from, to, rows*n/8, n, 1 << b, 1.0)
//@   swap(from, to)
//@ }
//@ cut<<<ceildiv(batch*channels*length, THREADS), THREADS>>>(from, y, batch*channels*length, channels, length, n)
#include <cmath>

// Two batch entries of a channel make one complex row, the real and the imaginary part, padded with zeros: filters are real.
__global__ void pad(const float* x, float2* u, size_t count, int batch, int channels, int length, int n) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int t = (int)(i % n);
    size_t c = i / n % channels, b = 2 * (i / n / channels);
    float2 v = {0.0f, 0.0f};
    if (t < length) v.x = x[(b * channels + c) * length + t];
    if (t < length && b + 1 < batch) v.y = x[((b + 1) * channels + c) * length + t];
    u[i] = v;
}

// (a + b i)(c + d i)
__device__ float2 times(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// Transform of R points in registers, by halving; `sign` -1 is the forward direction.
template <int R>
__device__ void small(float2* v, float sign) {
    if constexpr (R == 2) {
        float2 a = v[0], b = v[1];
        v[0] = {a.x + b.x, a.y + b.y};
        v[1] = {a.x - b.x, a.y - b.y};
    } else {
        float2 even[R / 2], odd[R / 2];
        for (int i = 0; i < R / 2; ++i) {
            even[i] = v[2 * i];
            odd[i] = v[2 * i + 1];
        }
        small<R / 2>(even, sign);
        small<R / 2>(odd, sign);
        const float cosine[4] = {1.0f, R == 8 ? 0.70710678f : 0.0f, 0.0f, -0.70710678f};
        const float sine[4] = {0.0f, R == 8 ? 0.70710678f : 1.0f, 1.0f, 0.70710678f};
        for (int i = 0; i < R / 2; ++i) {
            float2 turned = times(odd[i], {cosine[i], sign * sine[i]});
            v[i] = {even[i].x + turned.x, even[i].y + turned.y};
            v[i + R / 2] = {even[i].x - turned.x, even[i].y - turned.y};
        }
    }
}

// One pass of Stockham's transform: R transforms of `size` points become one of R*size. A thread makes R of a row's n points.
template <int R>
__global__ void pass(const float2* from, float2* to, size_t count, int n, int size, float sign) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int step = n / R, k = (int)(i % step), j = k % size;
    size_t row = i / step * n;
    float2 v[R];
    for (int r = 0; r < R; ++r) {
        float2 w;
        sincospif(sign * 2.0f * (float)(j * r) / (float)(size * R), &w.y, &w.x);
        v[r] = times(from[row + k + (size_t)r * step], w);
    }
    small<R>(v, sign);
    for (int r = 0; r < R; ++r) to[row + (size_t)(k - j) * R + j + (size_t)r * size] = v[r];
}

// The transform of each row times that of its channel's filter.
__global__ void multiply(float2* u, const float2* f, size_t count, int channels, int n) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) u[i] = times(u[i], f[i / n % channels * n + i % n]);
}

__global__ void cut(const float2* u, float* y, size_t count, int channels, int length, int n) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t t = i % length, c = i / length % channels, b = i / length / channels;
    float2 v = u[(b / 2 * channels + c) * n + t];
    y[i] = (b % 2 == 0 ? v.x : v.y) / n;
}
