//@ problem sci/heat2d
//@ scratch f32 other[ny, nx]
//@ let now = steps % 2 ? other : u, next = steps % 2 ? u : other
//@ copy(now, u0)
//@ for (i = 0; i < steps; ++i) {
//@   heat<<<(ceildiv(nx, 32), ceildiv(ny, 8)), (32, 8)>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }
__global__ void heat(const float* u, float* next, float alpha, int ny, int nx) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  size_t i = (size_t)y * nx + x;
  float c = u[i];
  float up = y > 0 ? u[i - nx] : c, down = y < ny - 1 ? u[i + nx] : c;
  float left = x > 0 ? u[i - 1] : c, right = x < nx - 1 ? u[i + 1] : c;
  next[i] = c + alpha * (up + down + left + right - 4.0f * c);
}
