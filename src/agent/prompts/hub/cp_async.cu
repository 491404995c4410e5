// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: cp.async.cg.shared.global cp.async.commit_group cp.async.wait_group
//@ problem test/affine
//@ const WARPS = 8, STAGES = 4
//@ if (cols % 4 == 0) piped<<<ceildiv(rows, WARPS), 32*WARPS>>>(x, shift, y, total, rows, cols, alpha)
//@ else plain<<<ceildiv(rows, WARPS), 32*WARPS>>>(x, shift, y, total, rows, cols, alpha)
#include <cstdint>

// 16 bytes from global to shared memory without registers; zeros where the source does not count. Both ends 16-byte aligned.
__device__ void copy16(void* to, const void* from, bool counts) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from), "r"(counts ? 16 : 0) : "memory");
}

__device__ float warp_sum(float s) {
  for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
  return s;
}

// One warp a row; STAGES - 1 tiles of 128 columns are on their way while one is computed.
__global__ void __launch_bounds__(32*WARPS) piped(const float* x, const float* shift, float* y, float* total, int rows,
                                                  int cols, float alpha) {
  __shared__ alignas(16) float tile[WARPS][STAGES][128];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x*WARPS + warp;
  if (row >= rows) return;  // a warp waits for nobody but itself here
  const float* from = x + static_cast<size_t>(row)*cols;
  const int count = (cols + 127) / 128;
  auto load = [&](int t) {
    const int c = t*128 + lane*4;
    if (t < count) copy16(&tile[warp][t % STAGES][lane*4], c < cols ? from + c : from, c < cols);
    asm volatile("cp.async.commit_group;" ::: "memory");  // empty at the end, so that groups can be counted
  };
  for (int t = 0; t < STAGES - 1; ++t) load(t);
  float sum = 0;
  for (int t = 0; t < count; ++t) {
    asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");  // all but the newest STAGES - 2 have landed
    __syncwarp();                                                           // the other lanes' copies as well
    for (int i = lane; i < 128 && t*128 + i < cols; i += 32) {
      const float v = alpha*tile[warp][t % STAGES][i] + shift[t*128 + i];
      y[static_cast<size_t>(row)*cols + t*128 + i] = v;
      sum += v;
    }
    __syncwarp();  // all have read before the next copy lands in a buffer
    load(t + STAGES - 1);
  }
  sum = warp_sum(sum);
  if (lane == 0) total[row] = sum;
}

__global__ void plain(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  const int row = blockIdx.x*WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) {
    const float v = alpha*x[static_cast<size_t>(row)*cols + c] + shift[c];
    y[static_cast<size_t>(row)*cols + c] = v;
    sum += v;
  }
  sum = warp_sum(sum);
  if (lane == 0) total[row] = sum;
}
