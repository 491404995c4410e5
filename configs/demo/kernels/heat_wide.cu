//@ problem sci/heat2d
//@ const V = 4, R = 16, TX = 64
//@ scratch f32 other[ny, nx]
//@ let launches = steps / 2 + steps % 2
//@ let now = launches % 2 ? other : u, next = launches % 2 ? u : other
//@ copy(now, u0)
//@ if (steps % 2) {
//@   one<<<(ceildiv(nx, 32), ceildiv(ny, 8)), (32, 8)>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }
//@ for (i = 0; i < steps / 2; ++i) {
//@   two<<<(ceildiv(nx, TX * V), ceildiv(ny, R)), TX>>>(now, next, alpha, ny, nx)
//@   swap(now, next)
//@ }

__global__ void one(const float* u, float* next, float alpha, int ny, int nx) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  size_t i = (size_t)y * nx + x;
  float c = u[i];
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
    c += alpha * (u[i - nx] + u[i + nx] + u[i - 1] + u[i + 1] - 4.0f * c);
  next[i] = c;
}

// Cells x0-2 .. x0+V+1 of row y; places outside repeat the border and are never used. Where rows begin at multiples of 16 bytes, three
// wide loads in place of eight of a word.
__device__ void load(float* row, const float* u, int y, int x0, int ny, int nx) {
  const float* from = u + (size_t)min(max(y, 0), ny - 1) * nx;
  if (nx % V == 0) {
    float2 left = *(const float2*)(from + max(x0 - 2, 0)), right = *(const float2*)(from + min(x0 + V, nx - 2));
    float4 own = *(const float4*)(from + x0);
    row[0] = left.x, row[1] = left.y;
    row[2] = own.x, row[3] = own.y, row[4] = own.z, row[5] = own.w;
    row[6] = right.x, row[7] = right.y;
    return;
  }
#pragma unroll
  for (int j = 0; j < V + 4; ++j) row[j] = from[min(max(x0 - 2 + j, 0), nx - 1)];
}

// Cells x0-1 .. x0+V of row y after one step.
__device__ void advance(float* out, const float* up, const float* mid, const float* down, int y, int x0, float alpha,
                        int ny, int nx) {
  bool row_inside = y > 0 && y < ny - 1;
#pragma unroll
  for (int j = 0; j < V + 2; ++j) {
    int x = x0 - 1 + j;
    float c = mid[j + 1];
    float moved = c + alpha * (up[j + 1] + down[j + 1] + mid[j] + mid[j + 2] - 4.0f * c);
    out[j] = row_inside && x > 0 && x < nx - 1 ? moved : c;
  }
}

// Two steps at once: a thread walks down R rows of V cells and keeps three rows of both times in registers.
__global__ void two(const float* u, float* next, float alpha, int ny, int nx) {
  int x0 = (blockIdx.x * TX + threadIdx.x) * V, y0 = blockIdx.y * R;
  if (x0 >= nx) return;
  float r0[V + 4], r1[V + 4], r2[V + 4], a[V + 2], b[V + 2], c[V + 2];
  load(r0, u, y0 - 2, x0, ny, nx);
  load(r1, u, y0 - 1, x0, ny, nx);
  load(r2, u, y0, x0, ny, nx);
  advance(a, r0, r1, r2, y0 - 1, x0, alpha, ny, nx);
  load(r0, u, y0 + 1, x0, ny, nx);
  advance(b, r1, r2, r0, y0, x0, alpha, ny, nx);
#pragma unroll
  for (int j = 0; j < V + 4; ++j) r1[j] = r2[j], r2[j] = r0[j];
  int end = min(y0 + R, ny);
  for (int y = y0; y < end; ++y) {
    load(r0, u, y + 2, x0, ny, nx);
    advance(c, r1, r2, r0, y + 1, x0, alpha, ny, nx);
    bool row_inside = y > 0 && y < ny - 1;
    float made[V];
#pragma unroll
    for (int j = 0; j < V; ++j) {
      int x = x0 + j;
      float m = b[j + 1];
      float moved = m + alpha * (a[j + 1] + c[j + 1] + b[j] + b[j + 2] - 4.0f * m);
      made[j] = row_inside && x > 0 && x < nx - 1 ? moved : m;
    }
    float* to = next + (size_t)y * nx + x0;
    if (nx % V == 0) {
      *(float4*)to = make_float4(made[0], made[1], made[2], made[3]);
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j)
        if (x0 + j < nx) to[j] = made[j];
    }
#pragma unroll
    for (int j = 0; j < V + 2; ++j) a[j] = b[j], b[j] = c[j];
#pragma unroll
    for (int j = 0; j < V + 4; ++j) r1[j] = r2[j], r2[j] = r0[j];
  }
}
