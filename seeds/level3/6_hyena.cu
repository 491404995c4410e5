//@ problem level3/6
//@ const THREADS = 256, PASS = 128, SPAN = 4*THREADS, DEPTH = 16, T = 32
//@ let times_count = batch*length, count = batch*length*channels, square = channels*channels, tiles = ceildiv(batch*length, 128)
//@ let n = 2*pow2ceil(length), bits = log2ceil(length) + 1, pairs = ceildiv(batch, 2), rows = pairs*channels, wide = ceildiv(channels, 64)
//@ let long_tiles = ceildiv(n, T), broad_tiles = ceildiv(channels, T)
//@ scratch f32 v[batch, length, channels], q[batch, length, channels], k[batch, length, channels], early[batch, length, channels]
//@ scratch f32 late[batch, length, channels], e[length, hidden], filter[length, channels]
//@ scratch c64 u[rows, n], spare[rows, n], f[channels, n], g[channels, n]
//@ let from = u, to = spare, filter_from = f, filter_to = g
//@ linear<8, 8><<<(tiles, wide), 128>>>(x, w_in, b_in, v, times_count, channels, channels)
//@ linear<8, 8><<<(tiles, wide), 128>>>(x, offset(w_in, square), offset(b_in, channels), q, times_count, channels, channels)
//@ linear<8, 8><<<(tiles, wide), 128>>>(x, offset(w_in, 2*square), offset(b_in, 2*channels), k, times_count, channels, channels)
//@ short_conv<<<ceildiv(count, THREADS), THREADS>>>(q, w_gate, b_gate, early, count, length, channels)
//@ short_conv<<<ceildiv(count, THREADS), THREADS>>>(k, offset(w_gate, 3*channels), offset(b_gate, channels), late, count, length, channels)
//@ positions<<<ceildiv(length*hidden, THREADS), THREADS>>>(w_1, b_1, e, length*hidden, length, hidden)
//@ silu<<<ceildiv(length*hidden, THREADS), THREADS>>>(e, length*hidden)
//@ linear<8, 8><<<(ceildiv(length, 128), wide), 128>>>(e, w_2, b_2, filter, length, hidden, channels)
//@ pad<<<(long_tiles, broad_tiles, pairs), (T, 8)>>>(v, u, batch, channels, length, n)
//@ pad<<<(long_tiles, broad_tiles, 1), (T, 8)>>>(filter, f, 1, channels, length, n)
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
//@ multiply<<<(rows, ceildiv(n, SPAN)), THREADS>>>(from, filter_from, channels, n)
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
//@ cut<<<(ceildiv(length, T), broad_tiles, pairs), (T, 8)>>>(from, v, batch, channels, length, n)
//@ gate<<<ceildiv(count, THREADS), THREADS>>>(v, early, count)
//@ gate<<<ceildiv(count, THREADS), THREADS>>>(v, late, count)
//@ linear<8, 8><<<(tiles, wide), 128>>>(v, w_out, b_out, y, times_count, channels, channels)
#include <cmath>

// y = x w^T + bias in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
    __shared__ __align__(16) float a[DEPTH][16 * R + 4], b[DEPTH][8 * C + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * 16 * R, column = blockIdx.y * 8 * C;
    float sum[R][C] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + 16 * R; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            for (int c = ty; c < ty + 8 * C; c += 16) b[i][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < R; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * R + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            int i = row + ty * R + r, o = column + tx + 8 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + bias[o];
        }
}

__global__ void short_conv(const float* s, const float* w, const float* bias, float* out, size_t count, int length, int channels) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int c = (int)(i % channels), t = (int)(i / channels % length);
    float before = t > 0 ? s[i - channels] : 0.0f, after = t + 1 < length ? s[i + channels] : 0.0f;
    out[i] = bias[c] + w[c * 3] * before + w[c * 3 + 1] * s[i] + w[c * 3 + 2] * after;
}

// The first layer of the filter's network.
__global__ void positions(const float* w, const float* bias, float* e, int count, int length, int hidden) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float place = length > 1 ? (float)(i / hidden) / (length - 1) : 0.0f;
    e[i] = w[i % hidden] * place + bias[i % hidden];
}

__global__ void silu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = v[i] / (1.0f + expf(-v[i]));
}

// [batch, length, channels] to rows of n: two batch entries of a channel make one complex row, the real and the imaginary
// part, padded with zeros. Filters are real, so the parts do not mix. Tiles of T x T, turned.
__global__ void pad(const float* v, float2* u, int batch, int channels, int length, int n) {
    __shared__ float2 tile[T][T + 1];
    int t0 = blockIdx.x * T, c0 = blockIdx.y * T, tx = threadIdx.x, b = 2 * blockIdx.z;
    for (int r = threadIdx.y; r < T; r += 8) {
        float2 value = {0.0f, 0.0f};
        size_t at = ((size_t)b * length + t0 + r) * channels + c0 + tx;
        bool inside = t0 + r < length && c0 + tx < channels;
        if (inside) value.x = v[at];
        if (inside && b + 1 < batch) value.y = v[at + (size_t)length * channels];
        tile[r][tx] = value;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 8)
        if (c0 + r < channels && t0 + tx < n) u[((size_t)blockIdx.z * channels + c0 + r) * n + t0 + tx] = tile[tx][r];
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
__global__ void pass(const float2* from, float2* to, size_t count, int n, int size, float sign) {
    __shared__ float2 turned[R][PASS + 1];
    size_t i = (size_t)blockIdx.x * PASS + threadIdx.x;
    float2 v[R];
    if (i < count) {
        int step = n / R, k = (int)(i % step), j = k % size;
        size_t row = i / step * n;
        for (int r = 0; r < R; ++r) {
            float2 w;
            sincospif(sign * 2.0f * (float)(j * r) / (float)(size * R), &w.y, &w.x);
            v[r] = times(from[row + k + (size_t)r * step], w);
        }
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

// The transform of each row times that of its channel's filter; a block has SPAN points of one row.
__global__ void multiply(float2* u, const float2* f, int channels, int n) {
    float2* row = u + (size_t)blockIdx.x * n;
    const float2* filter = f + (size_t)(blockIdx.x % channels) * n;
    int end = min(n, (int)(blockIdx.y + 1) * SPAN);
    for (int k = blockIdx.y * SPAN + threadIdx.x; k < end; k += THREADS) row[k] = times(row[k], filter[k]);
}

// The way back from pad(), without the padding.
__global__ void cut(const float2* u, float* v, int batch, int channels, int length, int n) {
    __shared__ float2 tile[T][T + 1];
    int t0 = blockIdx.x * T, c0 = blockIdx.y * T, tx = threadIdx.x, b = 2 * blockIdx.z;
    for (int r = threadIdx.y; r < T; r += 8)
        if (c0 + r < channels && t0 + tx < n) tile[r][tx] = u[((size_t)blockIdx.z * channels + c0 + r) * n + t0 + tx];
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 8) {
        if (t0 + r >= length || c0 + tx >= channels) continue;
        size_t at = ((size_t)b * length + t0 + r) * channels + c0 + tx;
        v[at] = tile[tx][r].x / n;
        if (b + 1 < batch) v[at + (size_t)length * channels] = tile[tx][r].y / n;
    }
}

__global__ void gate(float* v, const float* g, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= g[i];
}
