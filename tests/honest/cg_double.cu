// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<<<ceildiv(rows, 4), 128>>>(x, shift, y, total, rows, cols, alpha)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, const float* shift, float* y, float* total, const int rows, const int cols, const float alpha) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int r = blockIdx.x * 4 + tile.meta_group_rank();
  if (r >= rows) return;
  double s = 0;
  for (int c = tile.thread_rank(); c < cols; c += tile.size()) { float v = alpha * x[r * cols + c] + shift[c]; y[r * cols + c] = v; s += v; }
  s = cg::reduce(tile, s, cg::plus<double>());
  if (tile.thread_rank() == 0) total[r] = (float)s;
}
