#pragma once

#include "expr/dtype.h"
#include "problem/problem.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

// Tensors on the host, as admission makes and changes them.
namespace sweep::evaluate::admission {

using Bytes = std::vector<std::byte>;
using HostTensors = std::map<std::string, Bytes, std::less<>>;

// Numbers in `bytes`; a complex element counts as two. Integers beyond 2^53 are rounded.
[[nodiscard]] std::vector<double> reals(expr::DType type, std::span<const std::byte> bytes);

// The same numbers in the type: floats rounded to nearest even, integers to nearest and cut to
// their range.
[[nodiscard]] Bytes packed(expr::DType type, std::span<const double> values);

// What the oracle wrote (problem::oracle_type of `type`) in the output's own type.
[[nodiscard]] Bytes narrowed(expr::DType type, Bytes oracle);

// `value` with no more significant bits than arithmetic of the class keeps: fp32 24, tf32 and fp16
// 11, bf16 8, e4m3 and fp8 4. Ranges are those of the class too, but for tf32 and bf16, which have
// that of fp32; beyond it values saturate. fp64 and int8 change nothing.
[[nodiscard]] double rounded(double value, problem::Precision precision);

// All numbers rounded to the class and stored in their own type again; integers are returned
// unchanged.
[[nodiscard]] Bytes rounded(expr::DType type, const Bytes& bytes, problem::Precision precision);

}  // namespace sweep::evaluate::admission
