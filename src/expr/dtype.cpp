#include "expr/dtype.h"

#include <array>

namespace sweep::expr {
namespace {

enum class Class { floating, integer, complex };

struct Row {
  DType type;
  std::string_view name;
  std::string_view cpp;
  std::size_t bytes;
  Class kind;
};

// In the order of DType.
constexpr std::array<Row, 17> kRows{{
    {DType::f64, "f64", "double", 8, Class::floating},
    {DType::f32, "f32", "float", 4, Class::floating},
    {DType::f16, "f16", "__half", 2, Class::floating},
    {DType::bf16, "bf16", "__nv_bfloat16", 2, Class::floating},
    {DType::e4m3, "e4m3", "__nv_fp8_e4m3", 1, Class::floating},
    {DType::e5m2, "e5m2", "__nv_fp8_e5m2", 1, Class::floating},
    {DType::i64, "i64", "long long", 8, Class::integer},
    {DType::i32, "i32", "int", 4, Class::integer},
    {DType::i16, "i16", "short", 2, Class::integer},
    {DType::i8, "i8", "signed char", 1, Class::integer},
    {DType::u64, "u64", "unsigned long long", 8, Class::integer},
    {DType::u32, "u32", "unsigned int", 4, Class::integer},
    {DType::u16, "u16", "unsigned short", 2, Class::integer},
    {DType::u8, "u8", "unsigned char", 1, Class::integer},
    {DType::boolean, "bool", "bool", 1, Class::integer},
    {DType::c64, "c64", "float2", 8, Class::complex},
    {DType::c128, "c128", "double2", 16, Class::complex},
}};

const Row& row(DType type) {
  return kRows.at(static_cast<std::size_t>(type));
}

}  // namespace

std::size_t size_of(DType type) {
  return row(type).bytes;
}

std::string_view name(DType type) {
  return row(type).name;
}

std::string_view cpp_name(DType type) {
  return row(type).cpp;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) {
      return candidate.type;
    }
  }
  return std::nullopt;
}

bool is_float(DType type) {
  return row(type).kind == Class::floating;
}

bool is_integer(DType type) {
  return row(type).kind == Class::integer;
}

bool is_complex(DType type) {
  return row(type).kind == Class::complex;
}

}  // namespace sweep::expr
