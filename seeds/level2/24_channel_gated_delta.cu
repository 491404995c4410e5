//@ problem level2/24
//@ const THREADS = 256, WARPS = THREADS / 32, LANES = 16, PART = 8, MOST = 8
//@ let rows = batch*len*heads
//@ scratch f32 qs[rows, kd], ks[rows, kd], gate[rows, kd]
//@ normalize<<<ceildiv(rows, WARPS), THREADS>>>(q, qs, rows, kd)
//@ normalize<<<ceildiv(rows, WARPS), THREADS>>>(k, ks, rows, kd)
//@ fade<<<ceildiv(rows*kd, THREADS), THREADS>>>(decay, gate, rows*kd)
//@ scan<<<(ceildiv(vd, PART), batch*heads), (LANES, PART)>>>(qs, ks, v, gate, beta, y, len, heads, kd, vd)
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each vector.
__global__ void normalize(const float* x, float* out, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* v = x + (size_t)r * width;
    float square = 0.0f;
    for (int c = lane; c < width; c += 32) square += v[c] * v[c];
    float factor = 1.0f / sqrtf(warp_sum(square) + 1e-6f);
    for (int c = lane; c < width; c += 32) out[(size_t)r * width + c] = v[c] * factor;
}

__global__ void fade(const float* decay, float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) gate[i] = expf(decay[i]);
}

__device__ float lanes_sum(float v) {
    for (int step = LANES / 2; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// LANES threads share one column of the memory, up to MOST rows each; a block follows PART neighbouring columns.
__global__ void scan(const float* q, const float* k, const float* v, const float* gate, const float* beta, float* y, int len,
                     int heads, int kd, int vd) {
    int e = blockIdx.x * PART + threadIdx.y, lane = threadIdx.x, h = blockIdx.y % heads, b = blockIdx.y / heads;
    bool valid = e < vd;
    float memory[MOST] = {}, key[MOST] = {}, query[MOST] = {};
    for (int t = 0; t < len; ++t) {
        size_t at = ((size_t)b * len + t) * heads + h;
        float answer = 0.0f, sum = 0.0f;
        for (int j = 0; j < MOST; ++j) {
            int c = lane + j * LANES;
            if (c >= kd) break;
            key[j] = k[at * kd + c];
            query[j] = q[at * kd + c];
            memory[j] *= gate[at * kd + c];
            answer += key[j] * memory[j];
        }
        float u = beta[at] * ((valid ? v[at * vd + e] : 0.0f) - lanes_sum(answer));
        for (int j = 0; j < MOST; ++j) {
            if (lane + j * LANES >= kd) break;
            memory[j] += key[j] * u;
            sum += query[j] * memory[j];
        }
        sum = lanes_sum(sum);
        if (valid && lane == 0) y[at * vd + e] = sum;
    }
}
