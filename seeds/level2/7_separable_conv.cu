//@ problem level2/7
//@ const THREADS = 256, TO = 64, TT = 128, TK = 16
//@ scratch f32 z[batch, cin, length]
//@ depthwise<<<(ceildiv(length, THREADS), cin, batch), THREADS>>>(x, w_depth, z, cin, length, taps)
//@ pointwise<<<(ceildiv(length, TT), ceildiv(cout, TO), batch), 128>>>(z, w_point, y, cin, cout, length)

// A thread for each result; a block follows one channel of one sequence.
__global__ void depthwise(const float* x, const float* w, float* z, int channels, int length, int taps) {
    int t = blockIdx.x * THREADS + threadIdx.x, half = taps / 2;
    if (t >= length) return;
    size_t first = ((size_t)blockIdx.z * channels + blockIdx.y) * length;
    const float* from = x + first;
    const float* tap = w + blockIdx.y * taps;
    float sum = 0.0f;
    for (int j = max(0, half - t); j < min(taps, length + half - t); ++j) sum += tap[j] * from[t + j - half];
    z[first + t] = sum;
}

// y = w x at each time, in tiles of TO outputs x TT times, 128 threads for each; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) pointwise(const float* x, const float* w, float* y, int in, int out, int length) {
    __shared__ __align__(16) float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, o0 = blockIdx.y * TO, t0 = blockIdx.x * TT;
    const float* input = x + (size_t)blockIdx.z * in * length;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < in; k0 += TK) {
        for (int i = threadIdx.x; i < TO * TK; i += 128) {
            int o = o0 + i / TK, k = k0 + i % TK;
            a[i % TK][i / TK] = o < out && k < in ? w[(size_t)o * in + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TT * TK; i += 128) {
            int k = k0 + i / TT, t = t0 + i % TT;
            b[i / TT][i % TT] = k < in && t < length ? input[(size_t)k * length + t] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[k][ty * 8 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int o = o0 + ty * 8 + i, t = t0 + tx + 16 * j;
            if (o < out && t < length) y[((size_t)blockIdx.z * out + o) * length + t] = sum[i][j];
        }
}
