//@ problem level1/13
//@ const MOST = 512
//@ scratch f32 far[batch, points]
//@ sample<<<batch, max(32, min(MOST, pow2ceil(points)))>>>(point, far, chosen, points, samples)
#include <cmath>

// A block for each cloud, a power of two of threads, runs the whole chain. Per sample each thread lowers the distances of its
// points and finds its farthest one; a tree in shared memory finds that of the block.
__global__ void sample(const float* point, float* far, long long* chosen, int points, int samples) {
    __shared__ float best[MOST];
    __shared__ int place[MOST];
    int b = blockIdx.x, me = threadIdx.x, last = 0;
    const float* at = point + (size_t)b * points * 3;
    float* mine = far + (size_t)b * points;
    for (int i = me; i < points; i += blockDim.x) mine[i] = INFINITY;
    if (me == 0) chosen[(size_t)b * samples] = 0;
    for (int j = 1; j < samples; ++j) {
        float x = at[3 * last], y = at[3 * last + 1], z = at[3 * last + 2], top = -2.0f;
        int from = 0;
        for (int i = me; i < points; i += blockDim.x) {
            float dx = at[3 * i] - x, dy = at[3 * i + 1] - y, dz = at[3 * i + 2] - z;
            float d2 = i == last ? -1.0f : fminf(mine[i], dx * dx + dy * dy + dz * dz);
            mine[i] = d2;
            if (d2 > top) top = d2, from = i;
        }
        best[me] = top, place[me] = from;
        __syncthreads();
        for (int step = blockDim.x / 2; step > 0; step /= 2) {
            if (me < step && (best[me + step] > best[me] || (best[me + step] == best[me] && place[me + step] < place[me])))
                best[me] = best[me + step], place[me] = place[me + step];
            __syncthreads();
        }
        last = place[0];
        if (me == 0) chosen[(size_t)b * samples + j] = last;
        __syncthreads();
    }
}
