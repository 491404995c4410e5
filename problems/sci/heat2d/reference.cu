//@ problem sci/heat2d
//@ scratch f64 other[ny, nx]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other     // after `steps` swaps the result lies in u
//@ widen<<<ceildiv(nx*ny, 256), 256>>>(u0, now, ny, nx)
//@ for (i = 0; i < steps; ++i) {
//@   step<<<ceildiv(nx*ny, 256), 256>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }
__global__ void widen(const float* u0, double* u, int ny, int nx) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)ny * nx) u[i] = u0[i];
}

__global__ void step(const double* u, double* next, float alpha, int ny, int nx) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)ny * nx) return;
    int y = (int)(i / nx), x = (int)(i % nx);
    bool border = y == 0 || x == 0 || y == ny - 1 || x == nx - 1;
    next[i] = border ? u[i] : u[i] + alpha * (u[i - nx] + u[i + nx] + u[i - 1] + u[i + 1] - 4 * u[i]);
}
