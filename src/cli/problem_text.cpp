#include "cli/problem_text.h"

#include "problem/ranks.h"
#include "util/text.h"

#include <fmt/format.h>

namespace sweep::cli {

namespace {

std::string_view role_text(problem::Role role) {
  switch (role) {
    case problem::Role::input:
      return "input";
    case problem::Role::inout:
      return "inout";
    case problem::Role::output:
      return "output";
    case problem::Role::aux:
      return "aux";
  }
  return "";
}

std::string cpp_parameter(const problem::Tensor& tensor) {
  const std::string constant = tensor.role == problem::Role::input ? "const " : "";
  return fmt::format("{}{}*", constant, expr::cpp_name(tensor.type));
}

std::string dims_text(const problem::Problem& problem) {
  std::vector<std::string> parts;
  for (const problem::Dim& dim : problem.dims) {
    parts.push_back(dim.kind == problem::Dim::Kind::free ? dim.name
                                                         : dim.name + " = " + dim.rule.expr.text());
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string shape_text(const problem::Shape& shape) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : shape.free) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  std::string uses;
  uses += shape.uses.cpu ? " cpu" : "";
  uses += shape.uses.check ? " check" : "";
  uses += shape.uses.time ? " time" : "";
  return fmt::format("{}   {}", pad_right(fmt::format("{}", fmt::join(parts, ",")), 52), uses);
}

std::string tolerance_text(const problem::Problem& problem, const problem::Tensor& tensor) {
  const problem::Tolerance* tolerance = problem.tolerance(tensor.name);
  if (tolerance == nullptr) {
    return "judged by check.cu";
  }
  if (tolerance->compare == problem::Tolerance::Compare::bitwise) {
    return "bit for bit";
  }
  return fmt::format("within {:g}x the seed's own error (per element), {:g}x in rms, or {:g} ulp",
                     tolerance->c_max,
                     tolerance->c_rms,
                     tolerance->ulps);
}

}  // namespace

std::string type_text(const problem::Tensor& tensor) {
  std::vector<std::string> dims;
  for (const problem::Located& extent : tensor.shape) {
    dims.push_back(extent.expr.text());
  }
  return fmt::format("{}[{}]{}",
                     expr::name(tensor.type),
                     fmt::join(dims, ", "),
                     tensor.per_rank ? " per rank" : "");
}

std::string signature_comment(const problem::Problem& problem) {
  std::string out =
      fmt::format("// {}: {}\n// dims     {}\n", problem.id, problem.title, dims_text(problem));
  for (const problem::Scalar* scalar : problem.arguments()) {
    out += fmt::format("// scalar   {} {}\n",
                       pad_right(std::string(expr::cpp_name(scalar->type)), 16),
                       scalar->name);
  }
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role != problem::Role::aux) {
      out += fmt::format("// {} {} {} {}\n",
                         pad_right(std::string(role_text(tensor.role)), 8),
                         pad_right(cpp_parameter(tensor), 16),
                         pad_right(tensor.name, 12),
                         type_text(tensor));
    }
  }
  if (problem::ranked(problem)) {
    out +=
        "// The plan runs on each rank, step by step together. It knows rank and ranks, and "
        "peers(T): every rank's pointer\n// to T, for a parameter `const float* const*` (of "
        "scratch: `float* const*`).\n";
  }
  return out +
         "// The plan below (//@ lines) is the host code: launches, scratch buffers, loops. It may "
         "name everything above.\n";
}

std::string problem_text(const problem::Problem& problem, const Style& style) {
  std::string out = style.strong(problem.id + "  " + problem.title) + "\n";
  out += style.dim(fmt::format("{}   precision {}   {}",
                               problem.domain,
                               problem::name(problem.precision),
                               fmt::join(problem.slates, ", "))) +
         "\n\n" + problem.statement + "\n\n";
  out += style.dim("dims    ") + dims_text(problem) + "\n";
  for (const problem::Scalar* scalar : problem.arguments()) {
    out += style.dim("scalar  ") +
           fmt::format(
               "{} {} = {}\n", expr::name(scalar->type), scalar->name, scalar->rule.expr.text());
  }
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role == problem::Role::aux) {
      continue;
    }
    const std::string tail = tensor.role == problem::Role::input
                                 ? (tensor.fill ? "= " + tensor.fill->expr.text() : "")
                                 : tolerance_text(problem, tensor);
    out += style.dim(pad_right(std::string(role_text(tensor.role)), 8)) +
           pad_right(tensor.name, 12) + pad_right(type_text(tensor), 28) + " " + tail + "\n";
  }
  out += "\n" + style.dim("shapes") + "\n";
  for (const problem::Shape& shape : problem.shapes) {
    out += "  " + pad_right(shape.name, 12) + shape_text(shape) + "\n";
  }
  out += "\n" + style.dim("work    ") + problem.work.flops.expr.text() + " flops (" +
         std::string(problem::name(problem.work.unit)) + ")\n";
  return out + style.dim("folder  ") + problem.folder.string() + "\n" + style.dim("start   ") +
         "sweep new " + problem.id + " > mine.cu\n";
}

}  // namespace sweep::cli
