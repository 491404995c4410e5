//@ problem level1/10
//@ const EDGES = 8
//@ products<<<ceildiv(edges, EDGES), (32, EDGES)>>>(from, to, source, target, score, edges, width)
// A warp for each edge: both rows are read coalesced.
__global__ void products(const int* from, const int* to, const float* source, const float* target, float* score,
                         int edges, int width) {
    int e = blockIdx.x * EDGES + threadIdx.y;
    if (e >= edges) return;
    const float* a = source + (size_t)from[e] * width;
    const float* b = target + (size_t)to[e] * width;
    float sum = 0.0f;
    for (int f = threadIdx.x; f < width; f += 32) sum += a[f] * b[f];
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x == 0) score[e] = sum;
}
