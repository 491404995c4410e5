#pragma once

#include "submission/plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>

// Short ways to parse and expand plans for one signature.
namespace sweep::submission {

inline Submission parsed(const std::string& source) {
  auto result = parse("mine.cu", source);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->code << ": " << error->text(source);
    return {};
  }
  return std::get<Submission>(std::move(result));
}

inline PlanError refused(const std::string& source,
                         const std::map<std::string, std::int64_t>& overrides = {}) {
  auto result = parse("mine.cu", source, overrides);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    return *error;
  }
  ADD_FAILURE() << "accepted: " << source;
  return {};
}

inline expr::Expr expression(std::string_view text) {
  return std::get<expr::Expr>(expr::parse(text));
}

inline Signature gemm() {
  Signature out;
  out.problem = "level1/3";
  out.dims = {"m", "n"};
  out.scalars = {{"alpha", expr::DType::f32}};
  out.tensors = {{"a", expr::DType::f32, Role::input, {expression("m"), expression("n")}},
                 {"ids", expr::DType::i32, Role::input, {expression("m")}},
                 {"c", expr::DType::f32, Role::output, {expression("m"), expression("n")}}};
  return out;
}

inline Binding values(std::int64_t m, std::int64_t n) {
  Binding out;
  out.dims = {{"m", m}, {"n", n}};
  out.scalars = {{"alpha", 0.25}};
  out.sm_count = 4;
  return out;
}

inline Expansion expanded(const std::string& source, const Binding& binding) {
  const Submission submission = parsed(source);
  auto result = expand(submission, gemm(), binding);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->code << ": " << error->text(source);
    return {};
  }
  return std::get<Expansion>(std::move(result));
}

inline std::string expansion_code(const std::string& source) {
  const Submission submission = parsed(source);
  auto result = expand(submission, gemm(), values(4, 6));
  const auto* error = std::get_if<PlanError>(&result);
  return error == nullptr ? "accepted" : error->code;
}

}  // namespace sweep::submission
