//@ problem level2/13
//@ const THREADS = 256, PARTS = 1024, DEPTH = 16
//@ let tokens = batch*len, count = tokens*cin, parts = min(PARTS, ceildiv(count, THREADS))
//@ scratch f32 part[parts], step[1], rounded[tokens, cin], m[tokens, cin]
//@ part_peaks<<<parts, THREADS>>>(x, part, count)
//@ find_step<<<1, THREADS>>>(part, step, parts)
//@ quantize<<<ceildiv(count, THREADS), THREADS>>>(x, step, rounded, count)
//@ mix<<<ceildiv(count, THREADS), THREADS>>>(x, rounded, gate, m, count, cin)
//@ linear<8, 8, true><<<(ceildiv(tokens, 128), ceildiv(cout, 64)), 128>>>(m, w, bias, y, tokens, cin, cout)
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

// y = x w^T (+ bias) in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C, bool BIAS>
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}
