// Every block writes rows of y, the whole grid waits, and other blocks than the writers sum them.
// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: bar.sync atom
//@ problem test/affine
//@ rows_then_sums<<<min(rows, sm_count*occupancy(rows_then_sums)), 128, cooperative>>>(x, shift, y, total, rows, cols, alpha)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __launch_bounds__(128) rows_then_sums(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  __shared__ float warps[4];
  cg::grid_group grid = cg::this_grid();
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x)
    for (int c = threadIdx.x; c < cols; c += 128) y[row*cols + c] = alpha*x[row*cols + c] + shift[c];
  grid.sync();
  for (int i = blockIdx.x; i < rows; i += gridDim.x) {
    const size_t row = rows - 1 - i;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 128) sum += y[row*cols + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) total[row] = warps[0] + warps[1] + warps[2] + warps[3];
    __syncthreads();
  }
}
