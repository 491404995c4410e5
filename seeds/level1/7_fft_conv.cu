//@ problem level1/7
//@ const THREADS = 256, PASS = 128, SPAN = 4*THREADS
//@ let n = 2*pow2ceil(length), bits = log2ceil(length) + 1, pairs = ceildiv(batch, 2), rows = pairs*channels, spans = ceildiv(n, SPAN)
//@ scratch c64 u[rows, n], v[rows, n], f[channels, n], g[channels, n]
//@ let from = u, to = v, filter_from = f, filter_to = g
//@ pad<<<(rows, spans), THREADS>>>(x, u, batch, channels, length, n)
//@ pad<<<(channels, spans), THREADS>>>(filter, f, 1, channels, length, n)
//@ if (bits % 5 == 1) {
//@   pass<2><<<ceildiv(rows*n/2, PASS), PASS>>>(from, to, rows*n/2, n, 1, -1.0)
//@   pass<2><<<ceildiv(channels*n/2, PASS), PASS>>>(filter_from, filter_to, channels*n/2, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ if (bits % 5 == 2) {
//@   pass<4><<<ceildiv(rows*n/4, PASS), PASS>>>(from, to, rows*n/4, n, 1, -1.0)
//@   pass<4><<<ceildiv(channels*n/4, PASS), PASS>>>(filter_from, filter_to, channels*n/4, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ if (bits % 5 == 3) {
//@   pass<8><<<ceildiv(rows*n/8, PASS), PASS>>>(from, to, rows*n/8, n, 1, -1.0)
//@   pass<8><<<ceildiv(channels*n/8, PASS), PASS>>>(filter_from, filter_to, channels*n/8, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ if (bits % 5 == 4) {
//@   pass<16><<<ceildiv(rows*n/16, PASS), PASS>>>(from, to, rows*n/16, n, 1, -1.0)
//@   pass<16><<<ceildiv(channels*n/16, PASS), PASS>>>(filter_from, filter_to, channels*n/16, n, 1, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ for (b = bits % 5; b < bits; b += 5) {
//@   pass<32><<<ceildiv(rows*n/32, PASS), PASS>>>(from, to, rows*n/32, n, 1 << b, -1.0)
//@   pass<32><<<ceildiv(channels*n/32, PASS), PASS>>>(filter_from, filter_to, channels*n/32, n, 1 << b, -1.0)
//@   swap(from, to)
//@   swap(filter_from, filter_to)
//@ }
//@ multiply<<<(rows, spans), THREADS>>>(from, filter_from, channels, n)
//@ if (bits % 5 == 1) {
//@   pass<2><<<ceildiv(rows*n/2, PASS), PASS>>>(from, to, rows*n/2, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ if (bits % 5 == 2) {
//@   pass<4><<<ceildiv(rows*n/4, PASS), PASS>>>(from, to, rows*n/4, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ if (bits % 5 == 3) {
//@   pass<8><<<ceildiv(rows*n/8, PASS), PASS>>>(from, to, rows*n/8, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ if (bits % 5 == 4) {
//@   pass<16><<<ceildiv(rows*n/16, PASS), PASS>>>(from, to, rows*n/16, n, 1, 1.0)
//@   swap(from, to)
//@ }
//@ for (b = bits % 5; b < bits; b += 5) {
//@   pass<32><<<ceildiv(rows*n/32, PASS), PASS>>>(from, to, rows*n/32, n, 1 << b, 1.0)
//@   swap(from, to)
//@ }
//@ cut<<<(batch*channels, ceildiv(length, SPAN)), THREADS>>>(from, y, channels, length, n)
#include <cmath>

// A block of these three has SPAN points of one row. Two batch entries of a channel make one complex row, the real and the
// imaginary part, padded with zeros: filters are real.
__global__ void pad(const float* __restrict__ x, float2* __restrict__ u, int batch, int channels, int length, int n) {
    int c = blockIdx.x % channels, b = 2 * (blockIdx.x / channels), end = min(n, (int)(blockIdx.y + 1) * SPAN);
    const float* first = x + ((size_t)b * channels + c) * length;
    const float* second = first + (size_t)channels * length;
#pragma unroll 4
    for (int t = blockIdx.y * SPAN + threadIdx.x; t < end; t += THREADS) {
        float2 v = {0.0f, 0.0f};
        if (t < length) v.x = first[t];
        if (t < length && b + 1 < batch) v.y = second[t];
        u[(size_t)blockIdx.x * n + t] = v;
    }
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
        const float cosine[16] = {1.0f, 0.98078528f, 0.92387953f, 0.83146961f, 0.70710678f, 0.55557023f, 0.38268343f, 0.19509032f,
                                  0.0f, -0.19509032f, -0.38268343f, -0.55557023f, -0.70710678f, -0.83146961f, -0.92387953f, -0.98078528f};
        const float sine[16] = {0.0f, 0.19509032f, 0.38268343f, 0.55557023f, 0.70710678f, 0.83146961f, 0.92387953f, 0.98078528f,
                                1.0f, 0.98078528f, 0.92387953f, 0.83146961f, 0.70710678f, 0.55557023f, 0.38268343f, 0.19509032f};
        for (int i = 0; i < R / 2; ++i) {
            int angle = i * (32 / R);
            float2 turned = times(odd[i], {cosine[angle], sign * sine[angle]});
            v[i] = {even[i].x + turned.x, even[i].y + turned.y};
            v[i + R / 2] = {even[i].x - turned.x, even[i].y - turned.y};
        }
    }
}

// One pass of Stockham's transform: R transforms of `size` points become one of R*size. A thread makes R of a row's n points. In the
// first pass they are neighbours: shared memory turns the block's results, so that neighbouring threads write neighbouring points.
template <int R>
__global__ void pass(const float2* __restrict__ from, float2* __restrict__ to, size_t count, int n, int size, float sign) {
    __shared__ float2 turned[R][PASS + 1];
    size_t i = (size_t)blockIdx.x * PASS + threadIdx.x;
    float2 v[R];
    if (i < count) {
        int step = n / R, k = (int)(i % step), j = k % size;
        size_t row = i / step * n;
        float turn = sign * 2.0f / (float)(size * R);
        float2 w[R];
        w[0] = {1.0f, 0.0f};
        for (int p = 1; p < R; p *= 2) {
            sincospif(turn * (float)(j * p), &w[p].y, &w[p].x);
            for (int q = 1; q < p; ++q) w[p + q] = times(w[p], w[q]);
        }
        for (int r = 0; r < R; ++r) v[r] = times(from[row + k + (size_t)r * step], w[r]);
        small<R>(v, sign);
        if (size > 1)
            for (int r = 0; r < R; ++r) to[row + (size_t)(k - j) * R + j + (size_t)r * size] = v[r];
    }
    if (size > 1) return;
    for (int r = 0; r < R; ++r) turned[r][threadIdx.x] = v[r];
    __syncthreads();
    size_t first = (size_t)blockIdx.x * PASS * R;
    for (int e = threadIdx.x; e < PASS * R; e += PASS)
        if (first + e < count * R) to[first + e] = turned[e % R][e / R];
}

// The transform of each row times that of its channel's filter.
__global__ void multiply(float2* __restrict__ u, const float2* __restrict__ f, int channels, int n) {
    float2* row = u + (size_t)blockIdx.x * n;
    const float2* filter = f + (size_t)(blockIdx.x % channels) * n;
    int end = min(n, (int)(blockIdx.y + 1) * SPAN);
#pragma unroll 4
    for (int k = blockIdx.y * SPAN + threadIdx.x; k < end; k += THREADS) row[k] = times(row[k], filter[k]);
}

// The way back from pad(), without the padding: blockIdx.x counts (batch, channel).
__global__ void cut(const float2* __restrict__ u, float* __restrict__ y, int channels, int length, int n) {
    int b = blockIdx.x / channels, c = blockIdx.x % channels, end = min(length, (int)(blockIdx.y + 1) * SPAN);
    const float2* row = u + ((size_t)(b / 2) * channels + c) * n;
#pragma unroll 4
    for (int t = blockIdx.y * SPAN + threadIdx.x; t < end; t += THREADS)
        y[(size_t)blockIdx.x * length + t] = (b % 2 == 0 ? row[t].x : row[t].y) / n;
}
