//@ problem level2/41
//@ const THREADS = 256, WARPS = THREADS / 32, DEPTH = 16
//@ let tiles = ceildiv(batch, 128), head = latent*hidden
//@ scratch f32 e[batch, hidden], mu[batch, latent], logvar[batch, latent], z[batch, latent], d[batch, hidden], l[batch, data]
//@ linear<8, 8><<<(tiles, ceildiv(hidden, 64)), 128>>>(x, w_in, b_in, e, batch, data, hidden)
//@ relu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(e, batch*hidden)
//@ linear<8, 8><<<(tiles, ceildiv(latent, 64)), 128>>>(e, w_head, b_head, mu, batch, hidden, latent)
//@ linear<8, 8><<<(tiles, ceildiv(latent, 64)), 128>>>(e, offset(w_head, head), offset(b_head, latent), logvar, batch, hidden, latent)
//@ sample<<<ceildiv(batch*latent, THREADS), THREADS>>>(mu, logvar, noise, z, batch*latent)
//@ linear<8, 8><<<(tiles, ceildiv(hidden, 64)), 128>>>(z, w_mid, b_mid, d, batch, latent, hidden)
//@ relu<<<ceildiv(batch*hidden, THREADS), THREADS>>>(d, batch*hidden)
//@ linear<8, 8><<<(tiles, ceildiv(data, 64)), 128>>>(d, w_out, b_out, l, batch, hidden, data)
//@ cross_entropy<<<ceildiv(batch, WARPS), THREADS>>>(l, x, recon, batch, data)
//@ divergence<<<ceildiv(batch, WARPS), THREADS>>>(mu, logvar, kl, batch, latent)
//@ average<<<1, 1024>>>(recon, kl, bound, batch)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
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

__global__ void sample(const float* mu, const float* logvar, const float* noise, float* z, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) z[i] = mu[i] + expf(0.5f * logvar[i]) * noise[i];
}

// A warp for each sample in these two.
__global__ void cross_entropy(const float* l, const float* x, float* recon, int batch, int data) {
    int b = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (b >= batch) return;
    float sum = 0.0f;
    for (int c = lane; c < data; c += 32) {
        float v = l[(size_t)b * data + c];
        sum += fmaxf(v, 0.0f) + log1pf(expf(-fabsf(v))) - x[(size_t)b * data + c] * v;
    }
    sum = warp_sum(sum);
    if (lane == 0) recon[b] = sum;
}

__global__ void divergence(const float* mu, const float* logvar, float* kl, int batch, int latent) {
    int b = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (b >= batch) return;
    float sum = 0.0f;
    for (int c = lane; c < latent; c += 32) {
        float m = mu[(size_t)b * latent + c], v = logvar[(size_t)b * latent + c];
        sum += m * m + expf(v) - 1.0f - v;
    }
    sum = warp_sum(sum);
    if (lane == 0) kl[b] = 0.5f * sum;
}

__global__ void average(const float* recon, const float* kl, float* bound, int batch) {
    __shared__ float part[32];
    float sum = 0.0f;
    for (int b = threadIdx.x; b < batch; b += 1024) sum += recon[b] + kl[b];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = warp_sum(part[threadIdx.x]);
    if (threadIdx.x == 0) bound[0] = -sum / batch;
}
