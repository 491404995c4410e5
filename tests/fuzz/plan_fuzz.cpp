// A submission's plan: parsed, expanded for two shapes, its arguments bound, written as JSON.
#include "submission/plan.h"
#include "target.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sweep::fuzz {
namespace {

using submission::Role;

expr::Expr expression(std::string_view text) {
  return std::get<expr::Expr>(expr::parse(text));
}

submission::Signature signature() {
  submission::Signature out;
  out.problem = "level1/3";
  out.dims = {"m", "n"};
  out.scalars = {{"alpha", expr::DType::f32}, {"steps", expr::DType::i32}};
  out.tensors = {{"a", expr::DType::f32, Role::input, {expression("m"), expression("n")}},
                 {"ids", expr::DType::i32, Role::input, {expression("m")}},
                 {"state", expr::DType::bf16, Role::inout, {expression("n")}},
                 {"c", expr::DType::f32, Role::output, {expression("m"), expression("n")}}};
  return out;
}

void expand(const submission::Submission& parsed, std::int64_t m, std::int64_t n) {
  submission::Binding binding;
  binding.dims = {{"m", m}, {"n", n}};
  binding.scalars = {{"alpha", 0.25}, {"steps", std::int64_t{3}}};
  binding.sm_count = 4;
  binding.occupancy = [](const std::string&, std::int64_t, std::int64_t) {
    return std::int64_t{2};
  };
  const submission::Signature means = signature();
  const auto result = submission::expand(parsed, means, binding, 512);
  const auto* expansion = std::get_if<submission::Expansion>(&result);
  if (expansion == nullptr) {
    const auto& error = std::get<submission::PlanError>(result);
    must(error.code.starts_with("E_PLAN_"));
    must(!error.text(parsed.source).empty());
    return;
  }
  must(expansion->steps.size() <= 512);
  (void)submission::to_json(*expansion, means).dump();
  for (const submission::Step& step : expansion->steps) {
    if (const auto* launch = std::get_if<submission::Launch>(&step)) {
      for (const std::int64_t extent : launch->grid) {
        must(extent >= 1);
      }
      (void)submission::bind_arguments(
          *launch,
          submission::opaque_parameters(std::vector<std::size_t>(launch->arguments.size(), 8)),
          means,
          *expansion,
          [](const submission::BufferRef&) { return std::uint64_t{1} << 40U; });
    }
  }
}

}  // namespace

void fuzz(std::string_view input) {
  const auto result = submission::parse("mine.cu", std::string(input));
  if (const auto* error = std::get_if<submission::PlanError>(&result)) {
    must(error->code.starts_with("E_PLAN_"));
    must(!error->text(input).empty());
    return;
  }
  const auto& parsed = std::get<submission::Submission>(result);
  for (const std::string& name : submission::name_expressions(parsed.plan)) {
    (void)submission::parameters_of(name);
  }
  expand(parsed, 37, 65);
  expand(parsed, 0, 4096);
}

}  // namespace sweep::fuzz
