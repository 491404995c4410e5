//@ problem level2/13
//@ const THREADS = 256, PARTS = 1024, ROWS = 128, COLS = 64, DEPTH = 16
//@ let tokens = batch*len, count = tokens*cin, parts = min(PARTS, ceildiv(count, THREADS))
//@ scratch f32 part[parts], step[1], rounded[tokens, cin], m[tokens, cin]
//@ part_peaks<<<parts, THREADS>>>(x, part, count)
//@ find_step<<<1, THREADS>>>(part, step, parts)
//@ quantize<<<ceildiv(count, THREADS), THREADS>>>(x, step, rounded, count)
//@ mix<<<ceildiv(count, THREADS), THREADS>>>(x, rounded, gate, m, count, cin)
//@ linear<true><<<(ceildiv(tokens, ROWS), ceildiv(cout, COLS)), THREADS>>>(m, w, bias, y, tokens, cin, cout)
#include <cmath>

__device__ float block_max(float v) {
    __shared__ float part[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int i = 0; i < THREADS / 32; ++i) v = fmaxf(v, part[i]);
    return v;
}

__global__ void part_peaks(const float* x, float* part, size_t count) {
    float peak = 0.0f;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * THREADS)
        peak = fmaxf(peak, fabsf(x[i]));
    peak = block_max(peak);
    if (threadIdx.x == 0) part[blockIdx.x] = peak;
}

__global__ void find_step(const float* part, float* step, int parts) {
    float peak = 0.0f;
    for (int i = threadIdx.x; i < parts; i += THREADS) peak = fmaxf(peak, part[i]);
    peak = block_max(peak);
    if (threadIdx.x == 0) *step = __fdiv_rn(peak, 127.0f);
}

// To int8 and back.
__global__ void quantize(const float* x, const float* step, float* rounded, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) rounded[i] = fminf(fmaxf(rintf(__fdiv_rn(x[i], *step)), -127.0f), 127.0f) * *step;
}

__global__ void mix(const float* x, const float* rounded, const float* gate, float* m, size_t count, int width) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float s = 1.0f / (1.0f + expf(-gate[i / width]));
    m[i] = s * rounded[i] + (1.0f - s) * x[i];
}

// y = x w^T (+ bias) in tiles of ROWS x COLS; a thread makes 8 x 4.
template <bool BIAS>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
    __shared__ float a[DEPTH][ROWS + 1], b[DEPTH][COLS + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][4] = {};
    for (int first = 0; first < in; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < ROWS; r += 16) a[tx][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
        for (int c = ty; c < COLS; c += 16) b[tx][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty * 8 + r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}
