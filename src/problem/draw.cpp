#include "problem/draw.h"

#include "problem/device/convert.cuh"
#include "problem/evaluate_rules.h"
#include "problem/fill.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sweep::problem {
namespace {

using NodeKind = expr::Node::Kind;

std::vector<double> bounds(const Scalar& scalar, const expr::RealEnv& env) {
  std::vector<double> out;
  for (const auto& operand : scalar.rule.expr.root().operands) {
    out.push_back(real_of(scalar.rule, *operand, env));
  }
  return out;
}

ScalarValue typed(const Scalar& scalar, double value) {
  const auto type = static_cast<unsigned>(scalar.type);
  if (expr::is_integer(scalar.type)) {
    return static_cast<std::int64_t>(to_integer(value, type));
  }
  return round_real(value, type);
}

ScalarValue drawn(const Scalar& scalar, const expr::RealEnv& env, Stream& stream) {
  const std::vector<double> a = bounds(scalar, env);
  if (a.size() > 2) {
    return typed(scalar, a[stream.below(a.size())]);
  }
  if (a.size() != 2 || !(a[0] <= a[1])) {
    fail_at(scalar.rule.where,
            "E_DRAW_RULE",
            "draw takes (lo, hi) with lo <= hi, or three and more choices");
  }
  if (expr::is_integer(scalar.type)) {
    return stream.between(static_cast<std::int64_t>(std::ceil(a[0])),
                          static_cast<std::int64_t>(std::floor(a[1])));
  }
  return typed(scalar, a[0] + (a[1] - a[0]) * stream.unit());
}

std::int64_t drawn_bits(const Scalar& scalar, Stream& stream) {
  const std::size_t bytes = expr::size_of(scalar.type);
  const std::uint64_t word = stream.word();
  if (scalar.type == expr::DType::boolean) {
    return static_cast<std::int64_t>(word >> 63);
  }
  if (!expr::is_integer(scalar.type)) {
    fail_at(scalar.rule.where, "E_DRAW_RULE", "bits() needs an integer type", "use draw(lo, hi)");
  }
  // Sign-extended or zero-extended like a value of that type.
  const int unused = 64 - 8 * static_cast<int>(bytes);
  const bool is_signed = lowest_of(static_cast<unsigned>(scalar.type)) < 0;
  return is_signed ? static_cast<std::int64_t>(word) >> unused
                   : static_cast<std::int64_t>(word >> unused);
}

ScalarValue scalar_value(const Scalar& scalar, const expr::RealEnv& env, Stream& stream) {
  const expr::Node& root = scalar.rule.expr.root();
  if (root.kind == NodeKind::call && root.text == "draw") {
    return drawn(scalar, env, stream);
  }
  if (root.kind == NodeKind::call && root.text == "bits") {
    return drawn_bits(scalar, stream);
  }
  return typed(scalar, real_of(scalar.rule, env));
}

void check_bounds(const Dim& dim, std::int64_t value) {
  const bool ranks = dim.kind == Dim::Kind::ranks;
  const bool inside =
      ranks ? std::find(dim.choices.begin(), dim.choices.end(), value) != dim.choices.end()
            : value % dim.factor == 0 && value / dim.factor >= dim.min &&
                  value / dim.factor <= dim.max;
  if (!inside) {
    throw util::UsageError({"dim " + dim.name,
                            std::to_string(value) + " is outside " + dim.rule.expr.text(),
                            "choose another value"},
                           "E_DRAW_BOUNDS");
  }
}

std::string free_dims(const Problem& problem) {
  std::string names;
  for (const Dim& dim : problem.dims) {
    if (dim.kind != Dim::Kind::derived) {
      names += (names.empty() ? "" : ", ") + dim.name;
    }
  }
  return names;
}

}  // namespace

expr::IntEnv complete_dims(const Problem& problem, const expr::IntEnv& free) {
  expr::IntEnv dims;
  for (const Dim& dim : problem.dims) {
    if (dim.kind == Dim::Kind::derived) {
      dims[dim.name] = integer_of(dim.rule, dims);
      if (dims[dim.name] < 0) {
        fail_at(dim.rule.where, "E_DRAW_BOUNDS", "dim '" + dim.name + "' is negative");
      }
      continue;
    }
    const auto found = free.find(dim.name);
    if (found == free.end()) {
      throw util::UsageError({"dim " + dim.name, "no value", "give one"}, "E_DRAW_MISSING");
    }
    check_bounds(dim, found->second);
    dims[dim.name] = found->second;
  }
  for (const auto& [name, value] : free) {
    const Dim* dim = problem.dim(name);
    if (dim == nullptr || dim->kind == Dim::Kind::derived) {
      throw util::UsageError({"dim " + name,
                              dim == nullptr ? "unknown" : "derived from other dims",
                              "leave it out; " + problem.id + " has " + free_dims(problem)},
                             "E_DRAW_UNKNOWN");
    }
  }
  return dims;
}

Draw make_draw(const Problem& problem,
               std::string shape,
               const expr::IntEnv& free,
               std::string content,
               const Key& key) {
  Draw draw;
  draw.shape = std::move(shape);
  draw.content = std::move(content);
  draw.dims = complete_dims(problem, free);
  draw.key = key;
  const bool known = draw.content == "default" ||
                     std::any_of(problem.contents.begin(),
                                 problem.contents.end(),
                                 [&](const Content& c) { return c.name == draw.content; });
  if (!known) {
    throw util::UsageError({"content " + draw.content, "unknown", "see [contents] of problem.toml"},
                           "E_DRAW_CONTENT");
  }
  expr::RealEnv env = to_real(draw.dims);
  for (const Scalar& scalar : problem.scalars) {
    Stream stream(key.derive("scalar\n" + scalar.name).word(0));
    const ScalarValue value = scalar_value(scalar, env, stream);
    env[scalar.name] = std::visit([](auto v) { return static_cast<double>(v); }, value);
    draw.scalars[scalar.name] = value;
  }
  return draw;
}

Draw visible_draw(const Problem& problem,
                  const Shape& shape,
                  std::string_view content,
                  const Key& key,
                  int replicate) {
  const std::string label = "visible\n" + problem.id + "\n" + shape.name + "\n" +
                            std::string(content) + "\n" + std::to_string(replicate);
  return make_draw(problem, shape.name, shape.free, std::string(content), key.derive(label));
}

Draw custom_draw(const Problem& problem,
                 const Shape& base,
                 const std::map<std::string, std::int64_t>& values,
                 std::string_view content,
                 const Key& key) {
  expr::IntEnv free = base.free;
  std::string label = "custom\n" + problem.id;
  for (const auto& [name, value] : values) {
    free[name] = value;
    label += "\n" + name + "=" + std::to_string(value);
  }
  return make_draw(problem,
                   "custom",
                   free,
                   std::string(content),
                   key.derive(label + "\n" + std::string(content)));
}

ConcreteTensor concrete(const Problem& problem, const Tensor& tensor, const Draw& draw) {
  ConcreteTensor out;
  out.name = tensor.name;
  out.role = tensor.role;
  out.type = tensor.type;
  out.count = 1;
  const auto add = [&](std::vector<std::int64_t>& shape, std::int64_t extent) {
    if (extent < 0 || __builtin_mul_overflow(out.count, extent, &out.count) ||
        out.count > (std::int64_t{1} << 44)) {
      fail_at(tensor.where,
              "E_DRAW_SIZE",
              "tensor '" + tensor.name + "' has a negative or absurd size");
    }
    shape.push_back(extent);
  };
  if (tensor.per_rank) {
    std::int64_t ranks = 1;
    for (const Dim& dim : problem.dims) {
      ranks = dim.kind == Dim::Kind::ranks ? draw.dims.at(dim.name) : ranks;
    }
    add(out.stacked, ranks);
  }
  for (const Located& extent : tensor.shape) {
    add(out.shape, integer_of(extent, draw.dims));
  }
  out.stacked.insert(out.stacked.end(), out.shape.begin(), out.shape.end());
  out.bytes = out.count * static_cast<std::int64_t>(expr::size_of(tensor.type));
  return out;
}

}  // namespace sweep::problem
