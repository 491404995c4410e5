#include "problem/problem.h"

#include "problem/ranks.h"
#include "util/sha256.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sweep::problem {
namespace {

struct Class {
  std::string_view name;
  int bits;  // epsilon = 2^-bits
  std::optional<Precision> lower;
};

// Order of Precision.
constexpr std::array<Class, 8> kClasses{{{"fp64", 52, Precision::fp32},
                                         {"fp32", 23, Precision::tf32},
                                         {"tf32", 10, Precision::bf16},
                                         {"bf16", 7, Precision::e4m3},
                                         {"fp16", 10, Precision::bf16},
                                         {"e4m3", 3, std::nullopt},
                                         {"fp8", 3, std::nullopt},
                                         {"int8", 0, std::nullopt}}};

constexpr std::array<std::string_view, 9> kUnitNames{"fp32",
                                                     "int32",
                                                     "fp64",
                                                     "tensor-tf32",
                                                     "tensor-tf32x3",
                                                     "tensor-bf16",
                                                     "tensor-f16",
                                                     "tensor-fp8",
                                                     "tensor-int8"};

template <typename T>
const T* find(const std::vector<T>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& entry) { return entry.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name(Precision precision) {
  return kClasses[static_cast<std::size_t>(precision)].name;
}

double epsilon(Precision precision) {
  const int bits = kClasses[static_cast<std::size_t>(precision)].bits;
  return bits == 0 ? 0.0 : std::ldexp(1.0, -bits);
}

std::optional<Precision> next_lower(Precision precision) {
  return kClasses[static_cast<std::size_t>(precision)].lower;
}

std::string_view name(Unit unit) {
  return kUnitNames[static_cast<std::size_t>(unit)];
}

bool ranked(const Problem& problem) {
  return std::ranges::any_of(problem.dims,
                             [](const Dim& dim) { return dim.kind == Dim::Kind::ranks; });
}

expr::DType oracle_type(expr::DType type) {
  if (expr::is_float(type)) {
    return expr::DType::f64;
  }
  return expr::is_complex(type) ? expr::DType::c128 : type;
}

const Tensor* Problem::tensor(std::string_view name) const {
  return find(tensors, name);
}

const Shape* Problem::shape(std::string_view name) const {
  return find(shapes, name);
}

const Dim* Problem::dim(std::string_view name) const {
  return find(dims, name);
}

const Tolerance* Problem::tolerance(std::string_view output) const {
  const auto found = tolerances.find(output);
  return found == tolerances.end() ? nullptr : &found->second;
}

std::vector<const Scalar*> Problem::arguments() const {
  std::vector<const Scalar*> out;
  for (const Scalar& scalar : scalars) {
    if (!scalar.hidden) {
      out.push_back(&scalar);
    }
  }
  return out;
}

std::string Problem::hash() const {
  util::Sha256 digest;
  const auto add = [&](std::string_view label, const std::string& hex) {
    digest.update(label).update(":").update(hex).update("\n");
  };
  add("problem.toml", toml.hash);
  add("reference.cu", reference.hash);
  add("inputs.cu", inputs_cu ? inputs_cu->hash : "");
  add("check.cu", check_cu ? check_cu->hash : "");
  return util::to_hex(digest.finish());
}

}  // namespace sweep::problem
