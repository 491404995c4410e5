#include "evaluate/admission/narrowed_reference.h"

#include "problem/ranks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

constexpr std::array kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"double", "float"},
    {"double2", "float2"},
    {"double3", "float3"},
    {"double4", "float4"},
    {"f64", "f32"},
    {"c128", "c64"},
});

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string replaced_words(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    const auto found =
        std::ranges::find(kWords, word, &std::pair<std::string_view, std::string_view>::first);
    out += found == kWords.end() ? word : found->second;
    if (end < text.size()) {
      out += text[end++];
    }
    at = end;
  }
  return out;
}

expr::DType narrow_type(expr::DType type) {
  return type == expr::DType::f64    ? expr::DType::f32
         : type == expr::DType::c128 ? expr::DType::c64
                                     : type;
}

}  // namespace

NarrowedReference narrowed_reference(const problem::Problem& problem) {
  if (problem.precision == problem::Precision::fp64) {
    return {"", "the problem's precision is fp64"};
  }
  if (problem::ranked(problem)) {
    return {"", "it sees the tensors of all ranks at once"};
  }
  std::string head;
  for (const problem::Tensor& tensor : problem.tensors) {
    const expr::DType wide = problem::oracle_type(tensor.type);
    if (tensor.role == problem::Role::input) {
      continue;
    }
    if (tensor.role == problem::Role::aux) {
      std::string shape;
      for (const problem::Located& extent : tensor.shape) {
        shape += (shape.empty() ? "" : ", ") + extent.expr.text();
      }
      head += fmt::format("//@ scratch {} {}[{}]\n",
                          expr::name(narrow_type(tensor.type)),
                          tensor.name,
                          shape.empty() ? "1" : shape);
    } else if (narrow_type(wide) != tensor.type) {
      return {"", fmt::format("output '{}' is {}", tensor.name, expr::name(tensor.type))};
    }
  }
  return {head + replaced_words(problem.reference.text), ""};
}

}  // namespace sweep::evaluate::admission
