//@ problem sci/heat2d
//@ scratch f32 other[ny, nx]
//@ copy(u, u0)
//@ for (i = 0; i < steps; ++i) {
//@   heat<<<(ceildiv(nx, 2), ceildiv(ny, 8)), (2, 8)>>>(u, other, alpha, ny, nx)
//@   copy(u, other)
//@ }
__global__ void heat(const float* u, float* next, float alpha, int ny, int nx) {
  int x = blockIdx.x * 2 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  size_t i = (size_t)y * nx + x;
  float c = u[i];
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
    c += alpha * (u[i - nx] + u[i + nx] + u[i - 1] + u[i + 1] - 4.0f * c);
  next[i] = c;
}
