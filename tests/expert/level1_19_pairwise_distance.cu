// All distances between the points of a cloud in one launch; the seed writes squares, reads them again and writes roots.
// Bytes: 4 a pair for 12. A thread keeps four points j in registers (two to five axes) and meets eight points i with them, so a pair costs
// a quarter of a store and no load of its own. Expected: 4 to 6 times the seed.
//@ problem level1/19
//@ const TX = 64, TY = 4, ROWS = 32
//@ let across = ceildiv(points, 4*TX), down = ceildiv(points, ROWS)
//@ if (axes == 2) distances<2><<<(across, down, batch), (TX, TY)>>>(x, dist, points, axes)
//@ else if (axes == 3) distances<3><<<(across, down, batch), (TX, TY)>>>(x, dist, points, axes)
//@ else if (axes == 4) distances<4><<<(across, down, batch), (TX, TY)>>>(x, dist, points, axes)
//@ else if (axes == 5) distances<5><<<(across, down, batch), (TX, TY)>>>(x, dist, points, axes)
//@ else distances<0><<<(across, down, batch), (TX, TY)>>>(x, dist, points, axes)

// AXES 0: any number of axes, read from the cache each time.
template <int AXES>
__global__ void __launch_bounds__(TX*TY) distances(const float* __restrict__ x, float* __restrict__ dist, int points, int axes) {
  constexpr int KEPT = AXES > 0 ? AXES : 1;
  const float* cloud = x + (size_t)blockIdx.z*points*axes;
  // Four neighbours make one store; else four columns TX apart are coalesced, as are their reads where points are read each time.
  const bool whole = AXES > 0 && points % 4 == 0;
  const int stride = whole ? 1 : TX, j0 = blockIdx.x*4*TX + (whole ? 4*threadIdx.x : threadIdx.x);
  float own[4][KEPT];
#pragma unroll
  for (int q = 0; q < 4; ++q)
#pragma unroll
    for (int c = 0; c < AXES; ++c) own[q][c] = cloud[(size_t)min(j0 + q*stride, points - 1)*axes + c];
#pragma unroll 2
  for (int i = blockIdx.y*ROWS + threadIdx.y; i < min(points, (int)(blockIdx.y + 1)*ROWS); i += TY) {
    const float* other = cloud + (size_t)i*axes;
    float sum[4] = {};
    if (AXES > 0) {
#pragma unroll
      for (int c = 0; c < AXES; ++c) {
        const float v = other[c];
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[q] += (v - own[q][c])*(v - own[q][c]);
      }
    } else {
      for (int c = 0; c < axes; ++c) {
        const float v = other[c];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float off = v - cloud[(size_t)min(j0 + q*stride, points - 1)*axes + c];
          sum[q] += off*off;
        }
      }
    }
    float* to = dist + ((size_t)blockIdx.z*points + i)*points + j0;
#pragma unroll
    for (int q = 0; q < 4; ++q) sum[q] = sqrtf(sum[q] + 1e-8f);
    if (whole) {
      if (j0 < points) *reinterpret_cast<float4*>(to) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    } else {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (j0 + q*TX < points) to[q*TX] = sum[q];
    }
  }
}
