// The five-point heat equation, up to eight steps a pass over the field; the seed makes one and needs a copy before it.
// Bytes: 8*ny*nx a pass, so 3 passes in place of 24 at `full`. A warp marches down a strip of 128 columns with two rows of each time
// level in registers: a row that comes in makes a row of every level, one below the other, and neighbours across come by shuffles. No
// shared memory, no barrier. 16 of 128 columns and 16 rows of a tile are made twice. Expected: 2 to 4 times the seed.
//@ problem sci/heat2d
//@ const WARPS = 4, LEVELS = 8
//@ let passes = ceildiv(steps, LEVELS), first = steps - LEVELS*(passes - 1), strips = ceildiv(nx, 112)
//@ let height = clamp(ceildiv(ny, max(1, sm_count*occupancy(march<8>, 128)*WARPS / strips)), 16, 512)
//@ let blocks = ceildiv(strips*ceildiv(ny, height), WARPS), wide = ceildiv(ceildiv(nx, 120)*ceildiv(ny, height), WARPS)
//@ scratch f32 other[passes > 1 ? ny : 0, nx]
//@ let now = passes % 2 ? u : other, next = passes % 2 ? other : u
//@ if (steps == 0) {
//@   copy(u, u0)
//@ } else {
//@   if (first == 1) march<1><<<wide, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 2) march<2><<<wide, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 3) march<3><<<wide, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 4) march<4><<<wide, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 5) march<5><<<blocks, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 6) march<6><<<blocks, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 7) march<7><<<blocks, 128>>>(u0, now, alpha, ny, nx, height)
//@   if (first == 8) march<8><<<blocks, 128>>>(u0, now, alpha, ny, nx, height)
//@   for (i = 1; i < passes; ++i) {
//@     march<8><<<blocks, 128>>>(now, next, alpha, ny, nx, height)
//@     swap(now, next)
//@   }
//@ }

// Four cells of row y from column x on, a multiple of 4; 0 outside the field.
__device__ float4 row_of(const float* u, int y, int x, int ny, int nx) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (y < 0 || y >= ny || x < 0 || x >= nx) return v;
  const float* from = u + (size_t)y*nx + x;
  if (nx % 4 == 0) return *reinterpret_cast<const float4*>(from);
  v.x = from[0];
  if (x + 1 < nx) v.y = from[1];
  if (x + 2 < nx) v.z = from[2];
  if (x + 3 < nx) v.w = from[3];
  return v;
}

__device__ void store_row(float* u, int y, int x, int nx, float4 v) {
  if (x < 0 || x >= nx) return;
  float* to = u + (size_t)y*nx + x;
  if (nx % 4 == 0) {
    *reinterpret_cast<float4*>(to) = v;
    return;
  }
  to[0] = v.x;
  if (x + 1 < nx) to[1] = v.y;
  if (x + 2 < nx) to[2] = v.z;
  if (x + 3 < nx) to[3] = v.w;
}

// The row after one more step. rate: alpha for interior columns, else 0, so that cells of the border keep their value.
__device__ float4 advance(float4 above, float4 c, float4 below, float4 rate) {
  const float left = __shfl_up_sync(~0u, c.w, 1), right = __shfl_down_sync(~0u, c.x, 1);
  float4 v;
  v.x = c.x + rate.x*(above.x + below.x + left + c.y - 4.0f*c.x);
  v.y = c.y + rate.y*(above.y + below.y + c.x + c.z - 4.0f*c.y);
  v.z = c.z + rate.z*(above.z + below.z + c.y + c.w - 4.0f*c.z);
  v.w = c.w + rate.w*(above.w + below.w + c.z + right - 4.0f*c.w);
  return v;
}

// K steps. The outer lanes' cells lack neighbours and go wrong by one column a step, so EDGE lanes on each side only feed others.
template <int K>
__global__ void __launch_bounds__(32*WARPS) march(const float* u, float* next, float alpha, int ny, int nx, int height) {
  constexpr int EDGE = (K + 3) / 4, WIDTH = (32 - 2*EDGE)*4;
  const int lane = threadIdx.x % 32, strips = (nx + WIDTH - 1) / WIDTH, unit = blockIdx.x*WARPS + threadIdx.x / 32;
  const int x = unit % strips*WIDTH + (lane - EDGE)*4, top = unit / strips*height, bottom = min(ny, top + height);
  if (top >= ny) return;  // the whole warp
  const bool stores = lane >= EDGE && lane < 32 - EDGE;
  auto rate_at = [&](int column) { return column > 0 && column < nx - 1 ? alpha : 0.0f; };
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f), rate = make_float4(rate_at(x), rate_at(x + 1), rate_at(x + 2), rate_at(x + 3));
  float4 kept[K][2];  // of level l: the two rows before the one that comes next; which is the older one changes with each row
#pragma unroll
  for (int l = 0; l < K; ++l) kept[l][0] = kept[l][1] = zero;
  float4 soon[2] = {row_of(u, top - K, x, ny, nx), row_of(u, top - K + 1, x, ny, nx)};
  for (int start = top - K; start < bottom + K; start += 2) {
    const float4 now[2] = {soon[0], soon[1]};
    soon[0] = row_of(u, start + 2, x, ny, nx);
    soon[1] = row_of(u, start + 3, x, ny, nx);
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      float4 below = now[p];
#pragma unroll
      for (int l = 0; l < K; ++l) {
        const int y = start + p - l - 1;  // of the row that level l + 1 gains
        const float4 made = advance(kept[l][p], kept[l][1 - p], below, y > 0 && y < ny - 1 ? rate : zero);
        kept[l][p] = below;
        below = made;
      }
      const int y = start + p - K;
      if (stores && y >= top && y < bottom) store_row(next, y, x, nx, below);
    }
  }
}
