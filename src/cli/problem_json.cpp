#include "cli/problem_json.h"

#include "cli/problem_text.h"
#include "problem/draw.h"
#include "problem/fill.h"

#include <variant>

namespace sweep::cli {

namespace {

std::string_view role_name(problem::Role role) {
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

std::string_view kind_name(problem::Dim::Kind kind) {
  switch (kind) {
    case problem::Dim::Kind::free:
      return "free";
    case problem::Dim::Kind::derived:
      return "derived";
    case problem::Dim::Kind::ranks:
      return "ranks";
  }
  return "";
}

nlohmann::json tensors_of(const problem::Problem& problem) {
  nlohmann::json out = nlohmann::json::array();
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role == problem::Role::aux) {
      continue;
    }
    nlohmann::json shape = nlohmann::json::array();
    for (const problem::Located& extent : tensor.shape) {
      shape.push_back(extent.expr.text());
    }
    nlohmann::json one = {{"name", tensor.name},
                          {"type", type_text(tensor)},
                          {"element", expr::name(tensor.type)},
                          {"shape", std::move(shape)},
                          {"per_rank", tensor.per_rank},
                          {"role", role_name(tensor.role)}};
    if (tensor.fill) {
      one["fill"] = tensor.fill->expr.text();
    }
    out.push_back(std::move(one));
  }
  return out;
}

nlohmann::json uses_of(const problem::Uses& uses) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [name, on] : {std::pair{"cpu", uses.cpu},
                                 std::pair{"check", uses.check},
                                 std::pair{"time", uses.time},
                                 std::pair{"golden", uses.golden}}) {
    if (on) {
      out.push_back(name);
    }
  }
  return out;
}

nlohmann::json shape_json(const problem::Problem& problem, const problem::Shape& shape) {
  const problem::Draw draw =
      problem::visible_draw(problem, shape, "default", problem::Key::from_seed(1));
  nlohmann::json scalars = nlohmann::json::object();
  for (const auto& [name, value] : draw.scalars) {
    std::visit([&](auto v) { scalars[name] = v; }, value);
  }
  nlohmann::json tensors = nlohmann::json::object();
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role != problem::Role::aux) {
      tensors[tensor.name] = problem::concrete(problem, tensor, draw).stacked;
    }
  }
  return {{"name", shape.name},
          {"uses", uses_of(shape.uses)},
          {"dims", draw.dims},
          {"scalars", scalars},
          {"tensors", tensors},
          {"floor_seconds", problem::floor_seconds(problem, problem::work_of(problem, draw))}};
}

}  // namespace

nlohmann::json problem_json(const problem::Problem& problem) {
  nlohmann::json dims = nlohmann::json::array();
  for (const problem::Dim& dim : problem.dims) {
    dims.push_back(
        {{"name", dim.name}, {"kind", kind_name(dim.kind)}, {"rule", dim.rule.expr.text()}});
  }
  nlohmann::json groups = nlohmann::json::object();
  for (const problem::Group& group : problem.groups) {
    groups[group.name] = group.rule.expr.text();
  }
  nlohmann::json baselines = nlohmann::json::array();
  for (const problem::Baseline& baseline : problem.baselines) {
    baselines.push_back(baseline.name);
  }
  nlohmann::json free = nlohmann::json::object();
  nlohmann::json cases = nlohmann::json::array();
  for (const problem::Shape& shape : problem.shapes) {
    free[shape.name] = shape.free;
    cases.push_back(shape_json(problem, shape));
  }
  return {{"schema", 1},
          {"id", problem.id},
          {"title", problem.title},
          {"domain", problem.domain},
          {"statement", problem.statement},
          {"precision", problem::name(problem.precision)},
          {"slates", problem.slates},
          {"dims", dims},
          {"tensors", tensors_of(problem)},
          {"groups", groups},
          {"baselines", baselines},
          {"shapes", free},
          {"cases", cases},
          {"hash", problem.hash()}};
}

}  // namespace sweep::cli
