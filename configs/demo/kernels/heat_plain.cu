//@ problem sci/heat2d
//@ const BX = 32, BY = 8
//@ scratch f32 other[ny, nx]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other
//@ copy(now, u0)
//@ for (i = 0; i < steps; ++i) {
//@   heat<<<(ceildiv(nx, BX), ceildiv(ny, BY)), (BX, BY)>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }
__global__ void heat(const float* u, float* next, float alpha, int ny, int nx) {
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= nx || y >= ny) return;
    size_t i = (size_t)y * nx + x;
    float c = u[i];
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
        c += alpha * (u[i - nx] + u[i + nx] + u[i - 1] + u[i + 1] - 4.0f * c);
    next[i] = c;
}
