#include "problem/draw.h"
#include "problem/evaluate_rules.h"
#include "problem/fill.h"
#include "problem/signatures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sweep::problem {
namespace {

// Datasheet figures of an H200 (SXM, dense): operations per second by Unit, in the order of the
// enum. 3xTF32 is a third.
constexpr std::array<double, 9> kPeak{
    67e12, 33.5e12, 34e12, 494e12, 494e12 / 3, 989e12, 989e12, 1979e12, 1979e12};
// The same for the fastest unit that gives results of the declared precision.
constexpr std::array<double, 9> kFastest{
    494e12 / 3, 1979e12, 67e12, 494e12, 494e12 / 3, 989e12, 989e12, 1979e12, 1979e12};
constexpr double kBandwidth = 4.8e12;
constexpr double kL2 = 50.0 * 1024 * 1024;
// Measured on the same device: naive fp64 loops of an oracle, and one step of one thread's chain.
constexpr double kOracleOps = 4e11;
constexpr double kOracleStep = 3e-8;

double optional_real(const std::optional<Located>& rule,
                     const expr::RealEnv& env,
                     double otherwise) {
  return rule ? real_of(*rule, env) : otherwise;
}

// Statistics of a group before it is made.
void estimate(const Group& group, expr::RealEnv& env) {
  const expr::Node& call = group.rule.expr.root();
  const Arguments arguments = bind(call, group_signatures());
  const auto value = [&](std::string_view name, double otherwise) {
    const auto found = arguments.find(name);
    return found == arguments.end() ? otherwise : real_of(group.rule, *found->second.front(), env);
  };
  const double total = value("total", value("nnz", value("tokens", 0) * value("k", 1)));
  const double parts =
      std::max(1.0, value("parts", value("rows", value("experts", value("seqs", 1)))));
  const double longest = std::min(total, std::ceil(4 * total / parts));
  for (const std::string& part : group_statistics(call.text)) {
    double& out = env[group.name + "." + part];
    if (part == "nonempty") {
      out = std::min(parts, total);
    } else if (part == "distinct") {
      out = std::min(value("cols", 0), total);
    } else if (part == "used") {
      out = std::min(value("pages", 0), std::ceil(total / std::max(1.0, value("page", 1))) + parts);
    } else {
      out = longest;
    }
  }
}

}  // namespace

double Sizes::oracle_seconds() const {
  return std::max(reference_ops / kOracleOps, reference_depth * kOracleStep);
}

expr::RealEnv real_env(const Problem& problem, const Draw& draw, const expr::RealEnv& statistics) {
  expr::RealEnv env = to_real(draw.dims);
  for (const auto& [name, value] : draw.scalars) {
    env[name] = std::visit([](auto v) { return static_cast<double>(v); }, value);
  }
  env["sm_count"] = 132;
  for (const Group& group : problem.groups) {
    estimate(group, env);
  }
  for (const auto& [name, value] : statistics) {
    env[name] = value;
  }
  return env;
}

Sizes sizes_of(const Problem& problem, const Draw& draw, const expr::RealEnv& statistics) {
  Sizes sizes;
  for (const Tensor& tensor : problem.tensors) {
    const ConcreteTensor made = concrete(problem, tensor, draw);
    const auto bytes = static_cast<double>(made.bytes);
    if (tensor.role == Role::input || tensor.role == Role::inout) {
      sizes.input_bytes += bytes;
    }
    if (tensor.role == Role::output || tensor.role == Role::inout) {
      sizes.output_bytes += bytes;
    }
    if (tensor.role != Role::input) {
      sizes.oracle_bytes += static_cast<double>(made.count) *
                            static_cast<double>(expr::size_of(oracle_type(tensor.type)));
    }
  }
  const expr::RealEnv env = real_env(problem, draw, statistics);
  sizes.reference_ops = real_of(problem.work.reference_ops, env);
  sizes.reference_depth = optional_real(problem.work.reference_depth, env, 0);
  sizes.reference_scratch = optional_real(problem.work.reference_scratch, env, 0);
  return sizes;
}

WorkValues work_of(const Problem& problem, const Draw& draw, const expr::RealEnv& statistics) {
  const expr::RealEnv env = real_env(problem, draw, statistics);
  const Sizes sizes = sizes_of(problem, draw, statistics);
  WorkValues work;
  work.flops = real_of(problem.work.flops, env);
  work.special = optional_real(problem.work.special, env, 0);
  work.bytes = optional_real(problem.work.bytes, env, sizes.input_bytes + sizes.output_bytes);
  work.nominal_bytes = optional_real(problem.work.nominal_bytes, env, work.bytes);
  work.link_bytes = optional_real(problem.work.link_bytes, env, 0);
  return work;
}

double floor_seconds(const Problem& problem, const WorkValues& work) {
  const double moved = std::max(0.0, work.bytes - kL2) / kBandwidth;
  const double computed = problem.work.flops_is_floor
                              ? work.flops / kPeak[static_cast<std::size_t>(problem.work.unit)]
                              : 0.0;
  return std::max(moved, computed);
}

double least_compute_seconds(const Problem& problem, const WorkValues& work) {
  return problem.work.flops_is_floor
             ? work.flops / kFastest[static_cast<std::size_t>(problem.work.unit)]
             : 0.0;
}

double nominal_seconds(const Problem& problem, const WorkValues& work) {
  return std::max(work.bytes / kBandwidth,
                  work.flops / kPeak[static_cast<std::size_t>(problem.work.unit)]);
}

double scratch_limit(const Problem& problem, const Draw& draw) {
  const Sizes sizes = sizes_of(problem, draw);
  if (!problem.limits.scratch) {
    return 4 * (sizes.input_bytes + sizes.output_bytes) + (1 << 26);
  }
  expr::RealEnv env = real_env(problem, draw);
  env["input_bytes"] = sizes.input_bytes;
  env["output_bytes"] = sizes.output_bytes;
  return real_of(*problem.limits.scratch, env);
}

}  // namespace sweep::problem
