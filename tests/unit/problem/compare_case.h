#pragma once

#include "problem/compare.h"
#include "problem/device/compare.cuh"

#include <random>
#include <span>
#include <vector>

namespace sweep::problem::testing_case {

inline constexpr double kEps = 1.0 / (1 << 23);

// Parameters of a close comparison of f32 with the default tolerance for fp32.
inline CompareParameters close_f32(std::int64_t rows, std::int64_t columns) {
  CompareParameters p;
  p.type = kTypeF32;
  p.scale = kScaleRow;
  p.count = rows * columns;
  p.row_length = columns;
  p.columns = columns;
  p.floor = 4 * kEps;
  p.ceiling = 4096 * kEps;
  return p;
}

// A dot-product-like output: oracle in f64, seed and candidate with fp32-sized errors of `size`
// epsilon.
struct Case {
  std::int64_t rows, columns;
  std::vector<double> r;
  std::vector<float> y, s;

  Case(std::int64_t rows_, std::int64_t columns_, double size = 3, std::uint64_t seed = 1)
      : rows(rows_), columns(columns_) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      r.push_back(normal(engine) * 10);
      y.push_back(static_cast<float>(r.back() + 10 * size * kEps * normal(engine)));
      s.push_back(static_cast<float>(r.back() + 10 * size * kEps * normal(engine)));
    }
  }

  [[nodiscard]] CompareInputs inputs() const {
    CompareInputs out;
    out.got = std::as_bytes(std::span(y));
    out.oracle = std::as_bytes(std::span(r));
    out.seed = std::as_bytes(std::span(s));
    return out;
  }

  [[nodiscard]] Comparison run(int threads = 0) const {
    return compare(close_f32(rows, columns), {rows, columns}, inputs(), threads);
  }
};

}  // namespace sweep::problem::testing_case
