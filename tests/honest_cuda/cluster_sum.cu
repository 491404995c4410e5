// Four blocks share a row; the first reads the others' sums from their shared memory.
// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: mapa barrier.cluster.arrive
//@ problem test/affine
//@ const PARTS = 4
//@ parts<<<(PARTS, rows), 128, cluster(PARTS)>>>(x, shift, y, total, cols, alpha)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __launch_bounds__(128) parts(const float* x, const float* shift, float* y, float* total, int cols, float alpha) {
  __shared__ float warps[4];
  __shared__ float mine;
  cg::cluster_group cluster = cg::this_cluster();
  const size_t row = blockIdx.y;
  float sum = 0;
  for (int c = cluster.block_rank()*128 + threadIdx.x; c < cols; c += PARTS*128) {
    const float v = alpha*x[row*cols + c] + shift[c];
    y[row*cols + c] = v;
    sum += v;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) mine = warps[0] + warps[1] + warps[2] + warps[3];
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float all = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) all += *cluster.map_shared_rank(&mine, r);
    total[row] = all;
  }
  cluster.sync();  // nobody leaves while its shared memory is read
}
