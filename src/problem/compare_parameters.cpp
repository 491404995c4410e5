#include "problem/compare.h"
#include "problem/device/convert.cuh"

#include <algorithm>

namespace sweep::problem {
namespace {

constexpr std::int64_t kSmallTensor = 16;

// Trailing axes that form a row: at least `rows`, more while the row has fewer than 16 elements.
std::int64_t row_elements(const std::vector<std::int64_t>& shape, int rows) {
  std::int64_t length = 1;
  int taken = 0;
  for (std::size_t axis = shape.size(); axis-- > 0 && (taken < rows || length < kSmallTensor);
       ++taken) {
    length *= std::max<std::int64_t>(1, shape[axis]);
  }
  return length;
}

CompareScale scale_of(const Tolerance& tolerance) {
  switch (tolerance.scale) {
    case Tolerance::Scale::row:
      return kScaleRow;
    case Tolerance::Scale::tensor:
      return kScaleTensor;
    case Tolerance::Scale::element:
      return kScaleElement;
    case Tolerance::Scale::aux:
      return kScaleAux;
  }
  return kScaleRow;
}

}  // namespace

CompareParameters compare_parameters(const Problem& problem, const ConcreteTensor& output) {
  const Tolerance* found = problem.tolerance(output.name);
  const Tolerance tolerance = found == nullptr ? Tolerance{} : *found;
  CompareParameters p;
  p.components = expr::is_complex(output.type) ? 2 : 1;
  p.type = component_type(static_cast<unsigned>(output.type));
  p.bitwise = tolerance.compare == Tolerance::Compare::bitwise ? 1 : 0;
  p.scale = output.count < kSmallTensor && tolerance.scale != Tolerance::Scale::aux
                ? kScaleElement
                : scale_of(tolerance);
  p.allow_nan = problem.policy.nan_output ? 1 : 0;
  p.allow_infinity = problem.policy.infinity_output ? 1 : 0;
  const auto parts = static_cast<std::int64_t>(p.components);
  p.count = output.count * parts;
  const std::int64_t row = row_elements(output.stacked, tolerance.rows);
  p.row_length =
      parts * std::max<std::int64_t>(1, output.count == 0 ? 1 : std::min(row, output.count));
  p.columns =
      parts * (output.stacked.empty() ? 1 : std::max<std::int64_t>(1, output.stacked.back()));
  p.c_max = tolerance.c_max;
  p.c_rms = tolerance.c_rms;
  p.ulps = tolerance.ulps;
  p.floor = tolerance.floor;
  p.ceiling = tolerance.ceiling;
  p.ambiguous = problem.limits.ambiguous;
  return p;
}

bool needs_least_scale(const Problem& problem, const ConcreteTensor& output) {
  const Tolerance* found = problem.tolerance(output.name);
  const Tolerance tolerance = found == nullptr ? Tolerance{} : *found;
  const bool by_size =
      tolerance.scale == Tolerance::Scale::row || tolerance.scale == Tolerance::Scale::tensor;
  return found != nullptr && output.count > 0 && output.count < kSmallTensor && by_size &&
         tolerance.compare == Tolerance::Compare::close && tolerance.base.empty() &&
         !expr::is_integer(output.type);
}

CompareParameters seed_rule(CompareParameters parameters, double e_max) {
  parameters.c_max += 1;
  parameters.ulps *= 2;
  parameters.scale = parameters.scale == kScaleAux ? kScaleRow : parameters.scale;
  parameters.known_e_max = std::max(e_max, 0.0);
  parameters.seed_rule = 1;
  return parameters;
}

}  // namespace sweep::problem
