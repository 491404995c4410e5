#include "problem/draw.h"
#include "problem/evaluate_rules.h"
#include "problem/fill.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace sweep::problem {
namespace {

constexpr int kMaxTries = 1000;
constexpr double kHeldOutFloor = 10e-6;
// Of the shape that a timed draw starts from, where that is shorter.
constexpr double kOwnShare = 0.3;
// Around warp and tile sizes, and a prime.
constexpr std::array<std::int64_t, 7> kEdgeValues{1, 31, 33, 127, 129, 257, 251};

// Rounds to the dim's grid and clips to its bounds.
std::int64_t fitted(const Dim& dim, double value) {
  if (dim.kind == Dim::Kind::ranks) {
    return *std::min_element(
        dim.choices.begin(), dim.choices.end(), [&](std::int64_t a, std::int64_t b) {
          return std::fabs(static_cast<double>(a) - value) <
                 std::fabs(static_cast<double>(b) - value);
        });
  }
  const double steps = std::floor(value / static_cast<double>(dim.factor) + 0.5);
  const double clipped =
      std::clamp(steps, static_cast<double>(dim.min), static_cast<double>(dim.max));
  return static_cast<std::int64_t>(clipped) * dim.factor;
}

std::string constraint_broken(const Problem& problem,
                              const Draw& draw,
                              const Sizes& sizes,
                              const Machine& machine) {
  expr::RealEnv env = real_env(problem, draw);
  env["input_bytes"] = sizes.input_bytes;
  env["output_bytes"] = sizes.output_bytes;
  env["reference_bytes"] = sizes.oracle_bytes + sizes.reference_scratch;
  env["reference_ops"] = sizes.reference_ops;
  env["reference_depth"] = sizes.reference_depth;
  env["device_bytes"] = machine.device_bytes > 0 ? machine.device_bytes : 140e9;
  env["sm_count"] = static_cast<double>(machine.sm_count);
  for (const Located& rule : problem.constraints) {
    if (real_of(rule, env) == 0) {
      return "constraint '" + rule.expr.text() + "'";
    }
  }
  return {};
}

// Why this draw cannot be used, or "".
std::string rejected(const Problem& problem, const Draw& draw, const Machine& machine) {
  const Sizes sizes = sizes_of(problem, draw);
  if (std::string why = constraint_broken(problem, draw, sizes, machine); !why.empty()) {
    return why;
  }
  if (machine.cpu ? sizes.reference_ops > machine.cpu_ops
                  : sizes.oracle_seconds() > problem.limits.oracle_seconds) {
    return machine.cpu ? "reference_ops above the cpu limit" : "oracle_seconds";
  }
  // Pristine and working inputs, outputs twice, the oracle's tensors.
  const double bytes =
      2 * sizes.input_bytes + 2 * sizes.output_bytes + sizes.oracle_bytes + sizes.reference_scratch;
  if (machine.device_bytes > 0 && bytes > 0.9 * machine.device_bytes) {
    return "device memory";
  }
  if (machine.shortest_seconds > 0 &&
      nominal_seconds(problem, work_of(problem, draw)) < machine.shortest_seconds) {
    return "the shortest time worth measuring";
  }
  return {};
}

std::string content_of(const Problem& problem, int number) {
  const auto sets = problem.contents.size() + 1;
  const auto at = static_cast<std::size_t>(number) % sets;
  return at == 0 ? "default" : problem.contents[at - 1].name;
}

// One set of free dims by a rule for each dim.
template <typename Rule>
expr::IntEnv sample_free(const Problem& problem, const Rule& rule) {
  expr::IntEnv free;
  expr::RealEnv env;
  for (const Dim& dim : problem.dims) {
    if (dim.kind == Dim::Kind::derived) {
      continue;
    }
    free[dim.name] = fitted(dim, rule(dim, env));
    env[dim.name] = static_cast<double>(free[dim.name]);
  }
  return free;
}

const Sampler* sampler_of(const std::vector<Sampler>& list, const std::string& dim) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Sampler& s) { return s.dim == dim; });
  return found == list.end() ? nullptr : &*found;
}

// Names above a dim, derived ones included where they can be computed already.
expr::RealEnv names_above(const Problem& problem, const expr::RealEnv& free) {
  expr::RealEnv env = free;
  expr::IntEnv dims;
  for (const auto& [name, value] : free) {
    dims[name] = static_cast<std::int64_t>(value);
  }
  for (const Dim& dim : problem.dims) {
    if (dim.kind == Dim::Kind::derived) {
      try {
        dims[dim.name] = expr::eval_int(dim.rule.expr, dims, expr::Division::exact);
        env[dim.name] = static_cast<double>(dims[dim.name]);
      } catch (const expr::EvalError&) {
        break;  // needs a dim that comes later
      }
    }
  }
  return env;
}

// Draws until one is usable; `make` gives the free dims of a try.
template <typename Make>
Draw retry(const Problem& problem,
           const std::string& shape,
           const std::string& content,
           const Key& key,
           const Machine& machine,
           const Make& make) {
  std::string why;
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    const Key own = key.derive(shape + "\n" + std::to_string(attempt));
    Stream stream(own.word(1), 1);
    try {
      Draw draw = make_draw(problem, shape, make(stream), content, own);
      why = rejected(problem, draw, machine);
      if (why.empty()) {
        return draw;
      }
    } catch (const util::UsageError& fault) {
      why = fault.what();
    }
  }
  throw util::InfraError({problem.id + " " + shape,
                          "1000 draws were rejected, the last by " + why,
                          "loosen that rule or the ranges drawn"},
                         "E_DRAW_EXHAUSTED");
}

Draw stress_draw(const Problem& problem,
                 const std::string& shape,
                 int number,
                 const Key& key,
                 const Machine& machine) {
  return retry(problem, shape, content_of(problem, number), key, machine, [&](Stream& stream) {
    return sample_free(problem, [&](const Dim& dim, const expr::RealEnv& env) {
      if (const Sampler* sampler = sampler_of(problem.stress, dim.name)) {
        return sample(sampler->rule, names_above(problem, env), stream);
      }
      return static_cast<double>(dim.choices[stream.below(dim.choices.size())]);  // ranks
    });
  });
}

const Shape& smallest(const Problem& problem) {
  const Shape* best = nullptr;
  double least = 0;
  for (const Shape& shape : problem.shapes) {
    const double ops =
        sizes_of(problem, make_draw(problem, shape.name, shape.free, "default", Key{}))
            .reference_ops;
    if (best == nullptr || (shape.uses.cpu && !best->uses.cpu) ||
        (shape.uses.cpu == best->uses.cpu && ops < least)) {
      best = &shape;
      least = ops;
    }
  }
  return *best;
}

std::vector<expr::IntEnv> edge_shapes(const Problem& problem) {
  std::vector<expr::IntEnv> out = problem.edges;
  const expr::IntEnv base = smallest(problem).free;
  for (const Dim& dim : problem.dims) {
    std::vector<std::int64_t> tries = dim.choices;
    if (dim.kind == Dim::Kind::free) {
      tries.push_back(dim.min * dim.factor);
      for (const std::int64_t value : kEdgeValues) {
        tries.push_back(dim.factor == 1 ? value : value * dim.factor);
      }
    }
    for (const std::int64_t value : tries) {
      expr::IntEnv free = base;
      free[dim.name] = value;
      out.push_back(std::move(free));
    }
  }
  return out;
}

// Near `base`: free dims times log(0.6, 1.6), or by [heldout].
Draw timed_draw(const Problem& problem,
                const std::string& name,
                const Shape& base,
                const Key& key,
                const Machine& machine) {
  Machine limits = machine;
  if (limits.shortest_seconds == 0 && !machine.cpu) {
    const Draw own = make_draw(problem, base.name, base.free, "default", Key{});
    limits.shortest_seconds =
        std::min(kHeldOutFloor, kOwnShare * nominal_seconds(problem, work_of(problem, own)));
  }
  return retry(problem, name, "default", key, limits, [&](Stream& stream) {
    return sample_free(problem, [&](const Dim& dim, const expr::RealEnv& env) {
      if (const Sampler* sampler = sampler_of(problem.heldout, dim.name)) {
        return sample(sampler->rule, names_above(problem, env), stream);
      }
      const auto value = static_cast<double>(base.free.at(dim.name));
      const double low = random::log_of(0.6), high = random::log_of(1.6);
      return dim.kind == Dim::Kind::ranks
                 ? value
                 : value * random::exp_of(low + (high - low) * stream.unit());
    });
  });
}

}  // namespace

std::vector<Draw> stress_draws(
    const Problem& problem, const Key& key, int first, int count, const Machine& machine) {
  const Key own = key.derive("stress\n" + problem.id);
  std::vector<Draw> out;
  for (int i = first; i < first + count; ++i) {
    out.push_back(stress_draw(problem, "stress/" + std::to_string(i), i, own, machine));
  }
  return out;
}

std::vector<Draw> edge_draws(const Problem& problem, const Key& key, const Machine& machine) {
  const Key own = key.derive("edge\n" + problem.id);
  std::vector<Draw> out;
  std::set<expr::IntEnv> seen;
  for (const expr::IntEnv& free : edge_shapes(problem)) {
    if (!seen.insert(free).second) {
      continue;
    }
    try {
      const std::string shape = "edge/" + std::to_string(out.size());
      Draw draw = make_draw(problem, shape, free, "default", own.derive(shape));
      if (rejected(problem, draw, machine).empty()) {
        out.push_back(std::move(draw));
      }
    } catch (const util::UsageError&) {
      continue;  // outside bounds or not divisible: not a shape of this problem
    }
  }
  return out;
}

HeldOut::HeldOut(std::string_view salt, std::int64_t epoch, const Problem& problem)
    : key_(Key::from_secret(salt, "held-out\n" + std::to_string(epoch) + "\n" + problem.id)) {}

std::vector<Draw> HeldOut::checked(const Problem& problem,
                                   const Machine& machine,
                                   int count) const {
  std::vector<Draw> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(stress_draw(problem, "held-out/check/" + std::to_string(i), i, key_, machine));
  }
  return out;
}

std::vector<Draw> HeldOut::timed(const Problem& problem, const Machine& machine) const {
  std::vector<const Shape*> shapes;
  for (const Shape& shape : problem.shapes) {
    if (machine.cpu ? shape.uses.cpu : shape.uses.time) {
      shapes.push_back(&shape);
    }
  }
  if (shapes.empty()) {
    return {};
  }
  std::vector<Draw> out;
  const std::size_t count = std::max<std::size_t>(3, shapes.size());
  for (std::size_t i = 0; i < count; ++i) {
    // From the last, usually the largest, so that extra draws are of shapes worth timing.
    const Shape& base = *shapes[shapes.size() - 1 - i % shapes.size()];
    out.push_back(timed_draw(problem, "held-out/time/" + std::to_string(i), base, key_, machine));
  }
  return out;
}

}  // namespace sweep::problem
