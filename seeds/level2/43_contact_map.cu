//@ problem level2/43
//@ const THREADS = 256, WARPS = THREADS / 32, DEPTH = 16
//@ let pairs = batch*n*n, tiles = ceildiv(pairs, 128), wide = ceildiv(hidden, 64)
//@ scratch f32 norm_z[pairs, channels], x[pairs, channels], a[pairs, hidden], c[pairs, hidden], logit[pairs]
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, norm_gain, norm_bias, norm_z, pairs, channels)
//@ average<<<ceildiv(pairs*channels, THREADS), THREADS>>>(norm_z, x, pairs*channels, n, channels)
//@ linear<8, 8><<<(tiles, wide), 128>>>(x, w_in, b_in, a, pairs, channels, hidden)
//@ relu<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(a, pairs*hidden)
//@ linear<8, 8><<<(tiles, wide), 128>>>(a, w_mid, b_mid, c, pairs, hidden, hidden)
//@ relu<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(c, pairs*hidden)
//@ to_one<<<ceildiv(pairs, WARPS), THREADS>>>(c, w_out, b_out, logit, pairs, hidden)
//@ sigmoid<<<ceildiv(pairs, THREADS), THREADS>>>(logit, y, pairs)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each vector.
__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* v = x + (size_t)r * width;
    float mean = 0.0f, var = 0.0f;
    for (int c = lane; c < width; c += 32) mean += v[c];
    mean = warp_sum(mean) / width;
    for (int c = lane; c < width; c += 32) var += (v[c] - mean) * (v[c] - mean);
    float factor = 1.0f / sqrtf(warp_sum(var) / width + 1e-5f);
    for (int c = lane; c < width; c += 32) y[(size_t)r * width + c] = (v[c] - mean) * factor * gain[c] + bias[c];
}

// The mean of a pair's vector and that of the same residues the other way round.
__global__ void average(const float* norm_z, float* x, size_t count, int n, int channels) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t c = at % channels, pair = at / channels, j = pair % n, i = pair / n % n, b = pair / n / n;
    x[at] = 0.5f * (norm_z[at] + norm_z[((b * n + j) * n + i) * channels + c]);
}

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

__global__ void relu(float* v, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] = fmaxf(v[i], 0.0f);
}

// A single output: a warp for each vector.
__global__ void to_one(const float* x, const float* w, const float* bias, float* y, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int c = lane; c < width; c += 32) sum += x[(size_t)r * width + c] * w[c];
    sum = warp_sum(sum);
    if (lane == 0) y[r] = sum + bias[0];
}

__global__ void sigmoid(const float* logit, float* y, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] = 1.0f / (1.0f + expf(-logit[i]));
}
