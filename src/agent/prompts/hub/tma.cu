// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: cp.async.bulk.tensor.2d.shared mbarrier.try_wait cp.async.bulk.tensor.2d.global
//@ problem test/affine
//@ const ROWS = 8, COLS = 32
//@ if (cols % 4 == 0) {
//@   tensormap in = tile(x, box(ROWS, COLS), swizzle(128), l2(128))
//@   tensormap out = tile(y, box(ROWS, COLS), swizzle(128))
//@   tiles<<<ceildiv(rows, ROWS), 32*ROWS>>>(in, out, shift, total, rows, cols, alpha)
//@ } else plain<<<ceildiv(rows, ROWS), 32*ROWS>>>(x, shift, y, total, rows, cols, alpha)
#include <cuda.h>
#include <cstdint>

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait_for(const uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  }
}

// By one thread. Coordinates go innermost first: column, row. The whole box is counted, what lies outside the tensor too.
__device__ void load_tile(float* to, const CUtensorMap& map, int col, int row, uint64_t* barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(barrier)), "r"(static_cast<uint32_t>(ROWS*COLS*sizeof(float))) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(shared_address(to)), "l"(reinterpret_cast<uint64_t>(&map)), "r"(col), "r"(row), "r"(shared_address(barrier))
               : "memory");
}

__device__ float warp_sum(float s) {
  for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
  return s;
}

// One warp a row. While a tile is computed the next one is on its way into the other buffer.
__global__ void __launch_bounds__(32*ROWS) tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                                                 const float* shift, float* total, int rows, int cols, float alpha) {
  __shared__ alignas(1024) float tile[2][ROWS][COLS];  // swizzle(128) repeats every 8 rows of 128 bytes
  __shared__ alignas(8) uint64_t full[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, top = blockIdx.x*ROWS;
  const int count = (cols + COLS - 1) / COLS;
  // Element `lane` of row `warp`: its chunk of 16 bytes changes place with the row's number.
  const int at = ((lane / 4) ^ (warp % 8))*4 + lane % 4;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    load_tile(&tile[0][0][0], in, 0, top, &full[0]);
  }
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < count; ++t) {
    const int now = t % 2, c = t*COLS + lane;
    if (threadIdx.x == 0 && t + 1 < count) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // the store from that buffer has read it
      load_tile(&tile[1 - now][0][0], in, (t + 1)*COLS, top, &full[1 - now]);
    }
    wait_for(&full[now], t / 2 % 2);
    if (c < cols) {
      const float v = alpha*tile[now][warp][at] + shift[c];
      tile[now][warp][at] = v;
      sum += v;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // ordinary writes before the copy engine's reads
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                   :: "l"(reinterpret_cast<uint64_t>(&out)), "r"(t*COLS), "r"(top), "r"(shared_address(&tile[now][0][0])) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  sum = warp_sum(sum);
  if (lane == 0 && top + warp < rows) total[top + warp] = sum;
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // written before the block ends
}

__global__ void plain(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  const int row = blockIdx.x*ROWS + threadIdx.x / 32, lane = threadIdx.x % 32;
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
