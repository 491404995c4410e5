//@ problem level2/22
//@ const THREADS = 256, WARPS = THREADS / 32, LIST = 128
//@ let words = ceildiv(points, 32)
//@ scratch u32 ball[batch, queries, words]
//@ find<<<(ceildiv(queries, WARPS), batch), THREADS>>>(point, center, ball, radius2, points, queries, words)
//@ pool<<<(queries, ceildiv(channels, LIST), batch), LIST>>>(ball, feature, pooled, points, queries, channels, words)
#include <cmath>

// One bit for each point: a warp tests 32 neighbouring points at a time against one query; lane l keeps every 32nd word.
__global__ void find(const float* point, const float* center, unsigned* ball, float radius2, int points, int queries, int words) {
    int q = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (q >= queries) return;
    size_t query = (size_t)blockIdx.y * queries + q;
    const float* from = point + (size_t)blockIdx.y * points * 3;
    float x = center[query * 3], y = center[query * 3 + 1], z = center[query * 3 + 2];
    for (int first = 0; first < words; first += 32) {
        unsigned kept = 0;
        for (int w = first; w < min(first + 32, words); ++w) {
            int p = w * 32 + lane;
            bool inside = false;
            if (p < points) {
                float dx = x - from[p * 3], dy = y - from[p * 3 + 1], dz = z - from[p * 3 + 2];
                inside = dx * dx + dy * dy + dz * dz <= radius2;
            }
            unsigned bits = __ballot_sync(0xffffffffu, inside);
            if (w - first == lane) kept = bits;
        }
        if (first + lane < words) ball[query * words + first + lane] = kept;
    }
}

// A block lists the points in LIST words of its query's ball, then each thread looks at one channel of them.
__global__ void pool(const unsigned* ball, const float* feature, float* pooled, int points, int queries, int channels, int words) {
    __shared__ int list[LIST * 32], listed;
    int c = blockIdx.y * LIST + threadIdx.x;
    size_t query = (size_t)blockIdx.z * queries + blockIdx.x, first = (size_t)blockIdx.z * points;
    float best = -INFINITY;
    for (int start = 0; start < words; start += LIST) {
        if (threadIdx.x == 0) listed = 0;
        __syncthreads();
        int w = start + threadIdx.x;
        for (unsigned bits = w < words ? ball[query * words + w] : 0; bits != 0; bits &= bits - 1)
            list[atomicAdd(&listed, 1)] = w * 32 + __ffs(bits) - 1;
        __syncthreads();
        if (c < channels)
            for (int i = 0; i < listed; ++i) best = fmaxf(best, feature[(first + list[i]) * channels + c]);
        __syncthreads();
    }
    if (c < channels) pooled[query * channels + c] = best == -INFINITY ? 0.0f : best;
}
