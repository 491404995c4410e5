//@ problem level1/11
//@ const THREADS = 256, ROWS = 4
//@ scratch f32 factor[nodes], scaled[nodes, width]
//@ factors<<<ceildiv(nodes, THREADS), THREADS>>>(degree, factor, nodes)
//@ scale<<<ceildiv(nodes*width, THREADS), THREADS>>>(x, factor, scaled, nodes*width, width)
//@ sum<<<(ceildiv(nodes, ROWS), ceildiv(width, 32)), (32, ROWS)>>>(row_ptr, col, scaled, y, nodes, width)
//@ scale<<<ceildiv(nodes*width, THREADS), THREADS>>>(y, factor, y, nodes*width, width)
#include <cmath>

__global__ void factors(const int* degree, float* factor, int nodes) {
    int r = blockIdx.x * THREADS + threadIdx.x;
    if (r < nodes) factor[r] = degree[r] > 0 ? 1.0f / sqrtf((float)degree[r]) : 0.0f;
}

__global__ void scale(const float* from, const float* factor, float* to, size_t count, int width) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) to[i] = from[i] * factor[i / width];
}

// A warp makes 32 neighbouring features of one row.
__global__ void sum(const int* row_ptr, const int* col, const float* scaled, float* y, int nodes, int width) {
    int r = blockIdx.x * ROWS + threadIdx.y, f = blockIdx.y * 32 + threadIdx.x;
    if (r >= nodes || f >= width) return;
    float total = 0.0f;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) total += scaled[(size_t)col[e] * width + f];
    y[(size_t)r * width + f] = total;
}
