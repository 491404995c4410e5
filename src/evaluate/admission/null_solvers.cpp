#include "evaluate/admission/null_solvers.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace sweep::evaluate::admission {
namespace {

using expr::DType;

// Of the elements, that "1% skipped" leaves out, and the share that "one region" does.
constexpr std::size_t kSkippedShare = 100;
constexpr std::size_t kRegionShare = 16;

// A tensor as `rows` equal runs of bytes along its first axis of more than one.
struct Rows {
  std::size_t rows = 1, bytes = 0;
};

Rows rows_of(const problem::ConcreteTensor& tensor) {
  for (const std::int64_t extent : tensor.stacked) {
    if (extent > 1) {
      const auto rows = static_cast<std::size_t>(extent);
      return {rows, static_cast<std::size_t>(tensor.bytes) / rows};
    }
  }
  return {1, static_cast<std::size_t>(tensor.bytes)};
}

bool zero(const Bytes& values, std::size_t at, std::size_t size) {
  return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.begin() + static_cast<std::ptrdiff_t>(at + size),
                     [](std::byte b) { return b == std::byte{0}; });
}

void clear(Bytes& values, std::size_t at, std::size_t size) {
  std::memset(values.data() + at, 0, size);
}

std::size_t element_bytes(const HostTensor& right) {
  return expr::size_of(right.tensor.type);
}

// Numbers of the elements that are not zero already.
std::vector<std::size_t> filled(const HostTensor& right) {
  const std::size_t size = element_bytes(right);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < right.values->size() / size; ++i) {
    if (!zero(*right.values, i * size, size)) {
      found.push_back(i);
    }
  }
  return found;
}

Bytes skip_some(const HostTensor& right) {
  const std::size_t size = element_bytes(right);
  const std::vector<std::size_t> candidates = filled(right);
  const std::size_t count = right.values->size() / size;
  const std::size_t wanted =
      std::min(candidates.size(), (count + kSkippedShare - 1) / kSkippedShare);
  Bytes values = *right.values;
  for (std::size_t i = 0; i < wanted; ++i) {
    clear(values, candidates[(2 * i + 1) * candidates.size() / (2 * wanted)] * size, size);
  }
  return count < 2 ? Bytes{} : values;
}

Bytes skip_rows(const HostTensor& right) {
  const Rows rows = rows_of(right.tensor);
  if (rows.rows < 2) {
    return {};
  }
  const std::size_t half = rows.rows / 2 * rows.bytes;
  Bytes values = *right.values;
  clear(values, values.size() - half, half);
  if (values == *right.values) {
    clear(values, 0, half);
  }
  return values;
}

Bytes skip_region(const HostTensor& right) {
  const std::size_t size = element_bytes(right);
  const std::size_t count = right.values->size() / size;
  const std::vector<std::size_t> candidates = filled(right);
  if (count < kRegionShare || candidates.empty()) {
    return {};
  }
  const std::size_t length = count / kRegionShare;
  const std::size_t begin = std::min(candidates[candidates.size() / 2], count - length);
  Bytes values = *right.values;
  clear(values, begin * size, length * size);
  return values;
}

Bytes repeat_rows(const HostTensor& right, bool half) {
  const Rows rows = rows_of(right.tensor);
  const std::size_t kept = half ? (rows.rows + 1) / 2 : 1;
  if (rows.rows < 2 || (half && rows.rows < 4)) {
    return {};
  }
  Bytes values = *right.values;
  for (std::size_t row = kept; row < rows.rows; ++row) {
    std::memcpy(values.data() + row * rows.bytes,
                right.values->data() + row % kept * rows.bytes,
                rows.bytes);
  }
  return values;
}

// Real outputs: the mean, the best of all constants. Integers: the median, for bool the majority.
Bytes constant(const HostTensor& right) {
  std::vector<double> values = reals(right.tensor.type, *right.values);
  if (values.empty()) {
    return {};
  }
  double value = 0;
  if (expr::is_integer(right.tensor.type)) {
    std::vector<double> sorted = values;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    value = *middle;
  } else {
    value = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  std::ranges::fill(values, value);
  return packed(right.tensor.type, values);
}

// The input's elements one after another, from the start again where they do not suffice.
Bytes copy(const HostTensor& right, const HostTensor& input) {
  const DType to = right.tensor.type, from = input.tensor.type;
  if (input.values->empty() || expr::is_complex(to) != expr::is_complex(from)) {
    return {};
  }
  const Bytes converted = to == from ? *input.values : packed(to, reals(from, *input.values));
  Bytes values(right.values->size());
  for (std::size_t at = 0; at < values.size(); at += converted.size()) {
    std::memcpy(
        values.data() + at, converted.data(), std::min(converted.size(), values.size() - at));
  }
  return values;
}

}  // namespace

std::vector<NullSolver> null_solvers(const HostTensor& right,
                                     const Bytes* stale,
                                     const std::vector<HostTensor>& inputs) {
  std::vector<NullSolver> solvers{
      {"zeros", [right] { return Bytes(right.values->size()); }},
      {"a constant", [right] { return constant(right); }},
      {"1% left out", [right] { return skip_some(right); }},
      {"half of the rows", [right] { return skip_rows(right); }},
      {"one region left out", [right] { return skip_region(right); }},
      {"the first row repeated", [right] { return repeat_rows(right, false); }},
      {"the first half repeated", [right] { return repeat_rows(right, true); }},
  };
  if (stale != nullptr) {
    solvers.push_back({"the draw before", [stale] { return *stale; }});
  }
  for (const HostTensor& input : inputs) {
    solvers.push_back(
        {"copy of " + input.tensor.name, [right, input] { return copy(right, input); }});
  }
  return solvers;
}

}  // namespace sweep::evaluate::admission
