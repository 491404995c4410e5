//@ problem level1/5
//@ const TO = 64, TT = 128, TK = 16
//@ conv<<<(ceildiv(length, TT), ceildiv(cout, TO), batch), 256>>>(x, w, y, cin, cout, length, taps, dilation)
// An implicit matrix product: rows are output channels, columns are times, the inner index runs over (channel, tap).
// A block makes TO x TT results from tiles in shared memory, a thread 4 channels x 8 times.
__global__ void conv(const float* x, const float* w, float* y, int cin, int cout, int length, int taps, int dilation) {
    __shared__ float a[TK][TO + 4], b[TK][TT];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int o0 = blockIdx.y * TO, t0 = blockIdx.x * TT, inner = cin * taps;
    const float* input = x + (size_t)blockIdx.z * cin * length;
    float sum[4][8] = {};
    for (int k0 = 0; k0 < inner; k0 += TK) {
        for (int i = threadIdx.x; i < TO * TK; i += 256) {
            int o = o0 + i / TK, k = k0 + i % TK;
            a[i % TK][i / TK] = o < cout && k < inner ? w[(size_t)o * inner + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < TT * TK; i += 256) {
            int k = k0 + i / TT, t = t0 + i % TT;
            int channel = k / taps, at = t - (taps - 1 - k % taps) * dilation;
            b[i / TT][i % TT] = k < inner && at >= 0 && t < length ? input[(size_t)channel * length + at] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[k][ty * 4 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
            int o = o0 + ty * 4 + i, t = t0 + tx + 16 * j;
            if (o < cout && t < length) y[((size_t)blockIdx.z * cout + o) * length + t] = sum[i][j];
        }
}
