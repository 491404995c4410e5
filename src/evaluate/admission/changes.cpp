#include "evaluate/admission/changes.h"

#include "expr/ast.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

namespace sweep::evaluate::admission {
namespace {

using problem::Role;

constexpr double kScaled = 1.0625;  // exact in every float type
constexpr int kTries = 8;

bool filled(const problem::Tensor& tensor) {
  return tensor.role == Role::input || tensor.role == Role::inout;
}

// What a fill is tied to: its group, or the tensor that it copies.
std::string tie_of(const problem::Tensor& tensor) {
  if (!tensor.fill) {
    return {};
  }
  const expr::Node& root = tensor.fill->expr.root();
  if (root.kind == expr::Node::Kind::name) {
    return root.text.substr(0, root.text.find('.'));
  }
  const bool tied =
      root.kind == expr::Node::Kind::call && (root.text == "copy" || root.text == "prefix");
  return tied && !root.operands.empty() ? root.operands.front()->text : std::string();
}

Bytes scaled(expr::DType type, const Bytes& bytes) {
  if (expr::is_integer(type)) {
    return bytes;
  }
  std::vector<double> values = reals(type, bytes);
  for (double& value : values) {
    value *= kScaled;
  }
  return packed(type, values);
}

bool same_shapes(const problem::Problem& problem, const problem::Draw& a, const problem::Draw& b) {
  return std::ranges::all_of(problem.tensors, [&](const problem::Tensor& tensor) {
    return problem::concrete(problem, tensor, a).stacked ==
           problem::concrete(problem, tensor, b).stacked;
  });
}

expr::IntEnv free_dims(const problem::Problem& problem, const expr::IntEnv& dims) {
  expr::IntEnv free;
  for (const problem::Dim& dim : problem.dims) {
    if (dim.kind != problem::Dim::Kind::derived) {
      free[dim.name] = dims.at(dim.name);
    }
  }
  return free;
}

std::optional<OtherDraw> half_of(const problem::Problem& problem,
                                 const problem::Draw& draw,
                                 const problem::Dim& dim) {
  expr::IntEnv free = free_dims(problem, draw.dims);
  const std::int64_t now = free.at(dim.name);
  const std::int64_t half = std::max(dim.min, now / dim.factor / 2) * dim.factor;
  if (half >= now) {
    return std::nullopt;
  }
  free[dim.name] = half;
  OtherDraw other{"half of " + dim.name, draw};
  try {
    other.draw.dims = problem::complete_dims(problem, free);
  } catch (const util::UsageError&) {
    return std::nullopt;
  }
  return same_shapes(problem, draw, other.draw) ? std::optional(std::move(other)) : std::nullopt;
}

std::optional<OtherDraw> other_scalar(const problem::Problem& problem,
                                      const problem::Draw& draw,
                                      const problem::Scalar& scalar) {
  OtherDraw other{"wrong " + scalar.name, draw};
  problem::ScalarValue& value = other.draw.scalars[scalar.name];
  for (int i = 0; i < kTries; ++i) {
    const problem::Draw drawn = problem::make_draw(problem,
                                                   draw.shape,
                                                   free_dims(problem, draw.dims),
                                                   draw.content,
                                                   draw.key.derive("scalar/" + std::to_string(i)));
    const auto found = drawn.scalars.find(scalar.name);
    if (found != drawn.scalars.end() && found->second != value) {
      value = found->second;
      return other;
    }
  }
  if (double* real = std::get_if<double>(&value); real != nullptr && *real != 0) {
    *real = rounded(
        *real * kScaled,
        scalar.type == expr::DType::f32 ? problem::Precision::fp32 : problem::Precision::fp64);
    return other;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Unit> units(const problem::Problem& problem) {
  std::vector<Unit> found;
  std::map<std::string, std::size_t> place;  // of a tensor or group in `found`
  for (const problem::Tensor& tensor : problem.tensors) {
    if (!filled(tensor)) {
      continue;
    }
    const std::string tie = tie_of(tensor);
    const auto known = place.find(tie);
    if (!tie.empty() && known != place.end()) {
      found[known->second].tensors.push_back(tensor.name);
      place[tensor.name] = known->second;
      continue;
    }
    const bool group = !tie.empty() && problem.tensor(tie) == nullptr;
    place[tensor.name] = found.size();
    if (group) {
      place[tie] = found.size();
    }
    found.push_back({group ? tie : tensor.name, {tensor.name}});
  }
  return found;
}

std::optional<HostTensors> replaced(const problem::Problem& problem,
                                    const problem::Draw& draw,
                                    const Unit& unit,
                                    const HostTensors& inputs) {
  HostTensors changed = inputs;
  for (int i = 0; i < kTries; ++i) {
    problem::Draw other = draw;
    other.key = draw.key.derive("replaced/" + std::to_string(i));
    const problem::FillPlan plan(problem, other);
    for (std::size_t at = 0; at < plan.tensors().size(); ++at) {
      const problem::ConcreteTensor& tensor = plan.tensors()[at].tensor;
      if (std::ranges::find(unit.tensors, tensor.name) != unit.tensors.end()) {
        plan.fill(at, 0, tensor.count, changed[tensor.name]);
      }
    }
    if (changed != inputs) {
      return changed;
    }
  }
  for (const std::string& name : unit.tensors) {
    changed[name] = scaled(problem.tensor(name)->type, inputs.at(name));
  }
  return changed != inputs ? std::optional(std::move(changed)) : std::nullopt;
}

std::optional<Bytes> transposed(const problem::ConcreteTensor& tensor, const Bytes& values) {
  const std::size_t axes = tensor.stacked.size();
  if (axes < 2 || expr::is_integer(tensor.type) || tensor.stacked[axes - 1] < 2 ||
      tensor.stacked[axes - 1] != tensor.stacked[axes - 2]) {
    return std::nullopt;
  }
  const auto side = static_cast<std::size_t>(tensor.stacked.back());
  const std::size_t size = expr::size_of(tensor.type);
  Bytes out(values.size());
  for (std::size_t matrix = 0; matrix < values.size(); matrix += side * side * size) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        std::memcpy(out.data() + matrix + (j * side + i) * size,
                    values.data() + matrix + (i * side + j) * size,
                    size);
      }
    }
  }
  return out;
}

bool is_drawn(const problem::Tensor& tensor) {
  const expr::Node* root = tensor.fill ? &tensor.fill->expr.root() : nullptr;
  return root != nullptr && root->text != "formula" && root->text != "constant";
}

Nudged nudged(expr::DType type, const Bytes& values, const problem::Key& key) {
  if (expr::is_integer(type)) {
    return {values, 0};
  }
  const double size = type == expr::DType::f16    ? 0x1p-10
                      : type == expr::DType::bf16 ? 0x1p-7
                      : expr::size_of(type) == 1  ? 0x1p-2
                                                  : 0x1p-20;
  std::vector<double> numbers = reals(type, values);
  std::uint64_t bits = key.word(0) | 1U;
  for (double& number : numbers) {
    bits ^= bits << 13U;
    bits ^= bits >> 7U;
    bits ^= bits << 17U;
    number *= (bits >> 40U & 1U) != 0 ? 1 + size : 1 - size;
  }
  return {packed(type, numbers), size};
}

std::vector<OtherDraw> other_parameters(const problem::Problem& problem,
                                        const problem::Draw& draw) {
  std::vector<OtherDraw> found;
  const auto add = [&found](std::optional<OtherDraw> other) {
    if (other) {
      found.push_back(std::move(*other));
    }
  };
  for (const problem::Scalar* scalar : problem.arguments()) {
    add(other_scalar(problem, draw, *scalar));
  }
  for (const problem::Dim& dim : problem.dims) {
    if (dim.kind == problem::Dim::Kind::free) {
      add(half_of(problem, draw, dim));
    }
  }
  return found;
}

}  // namespace sweep::evaluate::admission
