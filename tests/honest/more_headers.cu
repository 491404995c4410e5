// Headers of the standard library after the program's own names.
// expect stress: PASS_INCONCLUSIVE
#include <array>
#include <bit>
#include <complex>
#include <functional>
#include <numbers>
#include <span>
#include <tuple>
#include <vector_types.h>
#include <cuda_fp16.h>
//@ problem test/affine
//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)
__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int cols, float alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  std::array<float, 2> part{};
  float& sum = part[1];
  const std::span<const float> row(x + r * cols, cols);
  // Of the complex factor the real part alone counts.
  const std::complex<float> factor = std::conj(std::complex<float>(alpha, std::numbers::pi_v<float>));
  const auto [scale, zero] = std::make_tuple(factor.real(), std::bit_cast<float>(0u));
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = std::plus<>{}(scale * row[c], shift[c]) + zero;
    sum += y[r * cols + c];
  }
  total[r] = sum;
}
