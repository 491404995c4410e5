#include "evaluate/admission/values.h"

#include "problem/device/convert.cuh"
#include "problem/resolve.h"

#include <cmath>
#include <utility>

namespace sweep::evaluate::admission {
namespace {

using expr::DType;
using problem::Precision;

double keep_bits(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  // Halves to even, as the rounding mode of the host is.
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// Numbers that one thread converts at a time: well beyond what a thread's start costs.
constexpr std::int64_t kGrain = 1 << 18;

template <class Body>
void for_each_number(std::size_t count, const Body& body) {
  problem::in_parallel(
      static_cast<std::int64_t>(count), kGrain, 0, [&body](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          body(i);
        }
      });
}

}  // namespace

std::vector<double> reals(DType type, std::span<const std::byte> bytes) {
  const auto kind = static_cast<unsigned>(type);
  const std::size_t count = bytes.size() / static_cast<std::size_t>(problem::component_bytes(kind));
  std::vector<double> values(count);
  for_each_number(count, [&](std::size_t i) {
    const auto at = static_cast<long long>(i);
    if (type == DType::u64) {
      values[i] = static_cast<double>(
          static_cast<std::uint64_t>(problem::load_integer(bytes.data(), at, kind)));
    } else if (expr::is_integer(type)) {
      values[i] = static_cast<double>(problem::load_integer(bytes.data(), at, kind));
    } else {
      values[i] = problem::load_real(bytes.data(), at, kind);
    }
  });
  return values;
}

Bytes packed(DType type, std::span<const double> values) {
  const auto kind = static_cast<unsigned>(type);
  const int size = problem::component_bytes(kind);
  Bytes bytes(values.size() * static_cast<std::size_t>(size));
  for_each_number(values.size(), [&](std::size_t i) {
    const auto bits = expr::is_integer(type)
                          ? static_cast<unsigned long long>(problem::to_integer(values[i], kind))
                          : problem::encode_real(values[i], kind);
    problem::store_bits(bytes.data(), static_cast<long long>(i), size, bits);
  });
  return bytes;
}

Bytes narrowed(DType type, Bytes oracle) {
  const DType wide = problem::oracle_type(type);
  return wide == type ? std::move(oracle) : packed(type, reals(wide, oracle));
}

double rounded(double value, Precision precision) {
  switch (precision) {
    case Precision::fp64:
    case Precision::int8:
      return value;
    case Precision::fp32:
      return problem::round_real(value, problem::kTypeF32);
    case Precision::tf32:
      return keep_bits(value, 11);
    case Precision::bf16:
      return keep_bits(value, 8);
    case Precision::fp16:
      return problem::round_real(value, problem::kTypeF16);
    case Precision::e4m3:
    case Precision::fp8:
      return problem::round_real(value, problem::kTypeE4m3);
  }
  return value;
}

Bytes rounded(DType type, const Bytes& bytes, Precision precision) {
  if (expr::is_integer(type)) {
    return bytes;
  }
  std::vector<double> values = reals(type, bytes);
  for_each_number(values.size(), [&](std::size_t i) { values[i] = rounded(values[i], precision); });
  return packed(type, values);
}

}  // namespace sweep::evaluate::admission
