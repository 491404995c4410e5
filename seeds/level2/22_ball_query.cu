//@ problem level2/22
//@ const THREADS = 256, WARPS = THREADS / 32
//@ let words = ceildiv(points, 32)
//@ scratch u32 ball[batch, queries, words]
//@ find<<<ceildiv(batch*queries*words, WARPS), THREADS>>>(point, center, ball, radius2, batch, points, queries, words)
//@ pool<<<(batch*queries, ceildiv(channels, 128)), min(channels, 128)>>>(ball, feature, pooled, points, queries, channels, words)
#include <cmath>

// One bit for each point: a warp tests 32 neighbouring points against one query.
__global__ void find(const float* point, const float* center, unsigned* ball, float radius2,
                     int batch, int points, int queries, int words) {
    long long word = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    if (word >= (long long)batch * queries * words) return;
    long long query = word / words;
    int p = (int)(word % words) * 32 + threadIdx.x % 32;
    bool inside = false;
    if (p < points) {
        const float* a = point + (query / queries * points + p) * 3;
        const float* b = center + query * 3;
        float dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
        inside = dx * dx + dy * dy + dz * dz <= radius2;
    }
    unsigned bits = __ballot_sync(0xffffffffu, inside);
    if (threadIdx.x % 32 == 0) ball[word] = bits;
}

__global__ void pool(const unsigned* ball, const float* feature, float* pooled, int points, int queries, int channels, int words) {
    int c = blockIdx.y * 128 + threadIdx.x;
    if (c >= channels) return;
    size_t query = blockIdx.x, first = query / queries * points;
    float best = -INFINITY;
    for (int w = 0; w < words; ++w)
        for (unsigned bits = ball[query * words + w]; bits != 0; bits &= bits - 1)
            best = fmaxf(best, feature[(first + w * 32 + __ffs(bits) - 1) * channels + c]);
    pooled[query * channels + c] = best == -INFINITY ? 0.0f : best;
}
