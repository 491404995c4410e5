//@ problem level1/16
//@ const ROWS = 8
//@ scratch f32 scaled[rows, width]
//@ scale<<<ceildiv(rows, ROWS), (32, ROWS)>>>(hidden, gate, scaled, rows, width)
//@ zero(combined)
//@ scatter_add<<<ceildiv(rows, ROWS), (32, ROWS)>>>(scaled, owner, combined, rows, width)
// A warp for each row in both kernels: all accesses are coalesced.
__global__ void scale(const float* hidden, const float* gate, float* scaled, int rows, int width) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    for (int f = threadIdx.x; f < width; f += 32) scaled[(size_t)r * width + f] = gate[r] * hidden[(size_t)r * width + f];
}

__global__ void scatter_add(const float* scaled, const int* owner, float* combined, int rows, int width) {
    int r = blockIdx.x * ROWS + threadIdx.y;
    if (r >= rows) return;
    float* to = combined + (size_t)owner[r] * width;
    for (int f = threadIdx.x; f < width; f += 32) atomicAdd(&to[f], scaled[(size_t)r * width + f]);
}
