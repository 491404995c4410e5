#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sweep::expr {

// Element types of tensors and scalars (docs: problem schema, section 3).
enum class DType {
  f64,
  f32,
  f16,
  bf16,
  e4m3,
  e5m2,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  c64,
  c128
};

// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType type);

// The name in problem files and plans: "f32", "bool", ...
[[nodiscard]] std::string_view name(DType type);

// The C++ spelling in kernels: "float", "__half", "long long", "float2", ...
[[nodiscard]] std::string_view cpp_name(DType type);

[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

[[nodiscard]] bool is_float(DType type);    // f64 f32 f16 bf16 e4m3 e5m2
[[nodiscard]] bool is_integer(DType type);  // i* u* bool
[[nodiscard]] bool is_complex(DType type);  // c64 c128

}  // namespace sweep::expr
