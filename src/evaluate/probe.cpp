#include "evaluate/probe.h"

#include "expr/ast.h"
#include "expr/dtype.h"
#include "problem/fill.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace sweep::evaluate {
namespace {

// Fills whose elements are independent of each other and of no special kind.
constexpr std::array<std::string_view, 7> kIndependent{
    "normal", "uniform", "lognormal", "student", "spikes", "weight", "lattice"};

std::string_view fill_name(const problem::Tensor& tensor) {
  if (!tensor.fill) {
    return {};
  }
  const expr::Node& root = tensor.fill->expr.root();
  return root.kind == expr::Node::Kind::call ? std::string_view(root.text) : std::string_view();
}

std::set<std::string> copied(const problem::Problem& problem) {
  std::set<std::string> names;
  for (const problem::Tensor& tensor : problem.tensors) {
    if (fill_name(tensor) == "copy") {
      for (const std::string& name : expr::names(tensor.fill->expr)) {
        names.insert(name);
      }
    }
  }
  return names;
}

}  // namespace

std::string Perturbation::text() const {
  return tensor + '[' + std::to_string(to) + "] = " + tensor + '[' + std::to_string(from) + ']';
}

std::vector<Perturbation> perturbations(const problem::Problem& problem,
                                        const problem::Draw& draw,
                                        const problem::Key& key,
                                        std::size_t most) {
  const std::set<std::string> shared = copied(problem);
  std::vector<Perturbation> found;
  for (const problem::Tensor& tensor : problem.tensors) {
    if (found.size() == most) {
      break;
    }
    const bool independent =
        std::ranges::find(kIndependent, fill_name(tensor)) != kIndependent.end();
    if (!independent || shared.contains(tensor.name) || !expr::is_float(tensor.type)) {
      continue;
    }
    const auto count = static_cast<std::uint64_t>(problem::concrete(problem, tensor, draw).count);
    if (count < 2) {
      continue;
    }
    const problem::Key own = key.derive("perturb\n" + tensor.name);
    const std::uint64_t to = own.word(0) % count;
    const std::uint64_t from = (to + 1 + own.word(1) % (count - 1)) % count;
    found.push_back({tensor.name, static_cast<std::int64_t>(to), static_cast<std::int64_t>(from)});
  }
  return found;
}

}  // namespace sweep::evaluate
