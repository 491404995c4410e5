//@ problem level1/21
//@ const THREADS = 256, PAIRS = 8
//@ let pairs = batch*atoms*atoms
//@ scratch f32 fade[pairs]
//@ fades<<<ceildiv(pairs, THREADS), THREADS>>>(distance, fade, cutoff, pairs)
//@ gaussians<<<ceildiv(pairs, PAIRS), (32, PAIRS)>>>(distance, center, basis, sharpness, pairs, terms)
//@ multiply<<<ceildiv(pairs, PAIRS), (32, PAIRS)>>>(fade, basis, pairs, terms)
#include <cmath>

__global__ void fades(const float* distance, float* fade, float cutoff, size_t pairs) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pairs) fade[i] = distance[i] < cutoff ? 0.5f * (cosf(3.14159265f * distance[i] / cutoff) + 1.0f) : 0.0f;
}

// A warp for each pair, as in multiply.
__global__ void gaussians(const float* distance, const float* center, float* basis, float sharpness, size_t pairs, int terms) {
    size_t i = (size_t)blockIdx.x * PAIRS + threadIdx.y;
    if (i >= pairs) return;
    for (int k = threadIdx.x; k < terms; k += 32) {
        float off = distance[i] - center[k];
        basis[i * terms + k] = expf(-sharpness * off * off);
    }
}

__global__ void multiply(const float* fade, float* basis, size_t pairs, int terms) {
    size_t i = (size_t)blockIdx.x * PAIRS + threadIdx.y;
    if (i >= pairs) return;
    for (int k = threadIdx.x; k < terms; k += 32) basis[i * terms + k] *= fade[i];
}
