//@ problem sci/heat2d
//@ const BX = 32, BY = 8, CELLS = 4
//@ scratch f32 other[ny, nx]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other
//@ copy(now, u0)
//@ for (i = 0; i < steps; ++i) {
//@   heat<<<(ceildiv(nx, BX), ceildiv(ny, BY*CELLS)), (BX, BY)>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }
// A thread makes CELLS cells of a column, BY rows apart, so that several loads are on their way at once.
__global__ void heat(const float* __restrict__ u, float* __restrict__ next, float alpha, int ny, int nx) {
    int x = blockIdx.x * BX + threadIdx.x;
    if (x >= nx) return;
#pragma unroll
    for (int r = 0; r < CELLS; ++r) {
        int y = (blockIdx.y * CELLS + r) * BY + threadIdx.y;
        if (y >= ny) continue;
        size_t i = (size_t)y * nx + x;
        bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
        int across = inside ? 1 : 0;
        size_t down = inside ? nx : 0;
        float c = u[i], around = u[i - down] + u[i + down] + u[i - across] + u[i + across];
        next[i] = inside ? c + alpha * (around - 4.0f * c) : c;
    }
}
