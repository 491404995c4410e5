//@ problem level1/15
//@ const EDGES = 8
//@ zero(y)
//@ add<<<ceildiv(edges, EDGES), (32, EDGES)>>>(target, message, y, edges, width)
// A warp for each edge: the reads and the additions are coalesced.
__global__ void add(const int* target, const float* message, float* y, int edges, int width) {
    int e = blockIdx.x * EDGES + threadIdx.y;
    if (e >= edges) return;
    float* to = y + (size_t)target[e] * width;
    for (int f = threadIdx.x; f < width; f += 32) atomicAdd(&to[f], message[(size_t)e * width + f]);
}
