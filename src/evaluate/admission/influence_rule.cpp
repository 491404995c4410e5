// Rule 5: every input influences the outputs, conditioning is bounded, outputs are not constant.
#include "evaluate/admission/changes.h"
#include "evaluate/admission/rule_check.h"
#include "evaluate/probe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

// An error of the inputs may grow so much: with it, arithmetic of the declared class uses up the
// default ceiling of E.
constexpr double kMostGrowth = 4096;
// The largest differences that a branch taken otherwise may cause are left out.
constexpr double kBranches = 0.002;
constexpr std::size_t kSingles = 64;  // single elements tried in a call of the problem's probe

// rms of the differences over rms of the values, both without the largest share of differences.
double relative_change(std::vector<double> before, const std::vector<double>& after) {
  std::vector<double> squares(before.size());
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double difference = after[i] - before[i];
    squares[i] = std::isfinite(difference) ? difference * difference : 0;
    sum += std::isfinite(before[i]) ? before[i] * before[i] : 0;
  }
  const auto kept =
      squares.size() -
      static_cast<std::size_t>(std::ceil(kBranches * static_cast<double>(squares.size())));
  std::nth_element(
      squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(kept), squares.end());
  double changed = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    changed += squares[i];
  }
  return sum > 0 ? std::sqrt(changed / sum) : 0;
}

bool all_equal(const Bytes& values, std::size_t size) {
  for (std::size_t at = size; at + size <= values.size(); at += size) {
    if (std::memcmp(values.data(), values.data() + at, size) != 0) {
      return false;
    }
  }
  return true;
}

class InfluenceRule final : public RuleCheck {
 public:
  explicit InfluenceRule(const problem::Problem& problem) : units_(units(problem)) {
    for (const problem::Tensor& tensor : problem.tensors) {
      if (tensor.role == problem::Role::output || tensor.role == problem::Role::inout) {
        varied_[tensor.name] = false;
      }
    }
  }

  void see(Case& one, bool first) override {
    see_variation(one);
    if (!first || one.draw().content != "default") {
      return;
    }
    see_units(one);
    see_singles(one);
    see_growth(one);
  }

  [[nodiscard]] RuleResult result() const override {
    RuleResult result;
    result.rule = Rule::influence;
    for (const Unit& unit : units_) {
      if (!influence_.contains(unit.name)) {
        result.fail(
            fmt::format("'{}' influences no output: replaced as a whole, none changes", unit.name));
      }
    }
    for (const auto& [output, varied] : varied_) {
      if (!varied) {
        result.fail(
            fmt::format("'{}' has one and the same value everywhere, in all draws", output));
      }
    }
    if (growth_ > kMostGrowth) {
      result.fail(fmt::format(
          "{}: an error of the inputs grows {:.3g} times on its way to '{}', more than {:g}",
          growth_shape_,
          growth_,
          growth_output_,
          kMostGrowth));
    }
    result.worst = fmt::format(
        "{} of {} inputs matter; single elements did in {} of {} tries; errors grow {:.2g} times "
        "at most",
        influence_.size(),
        units_.size(),
        singles_felt_,
        singles_,
        growth_);
    result.numbers = {{"inputs", static_cast<double>(units_.size())},
                      {"inputs_that_matter", static_cast<double>(influence_.size())},
                      {"singles_tried", static_cast<double>(singles_)},
                      {"singles_felt", static_cast<double>(singles_felt_)},
                      {"error_growth", growth_}};
    if (result.state == State::fails) {
      result.next =
          "take inputs out that are not read, draw contents that reach every branch, and keep "
          "divisors and differences away from 0";
    }
    return result;
  }

 private:
  void see_variation(Case& one) {
    for (auto& [output, varied] : varied_) {
      if (varied) {
        continue;
      }
      const Bytes& values = one.right().at(output);
      const std::size_t size = expr::size_of(one.problem().tensor(output)->type);
      if (values.size() < size) {
        continue;
      }
      Bytes head(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
      const auto [seen, fresh] = first_values_.try_emplace(output, head);
      varied = !all_equal(values, size) || (!fresh && seen->second != head);
    }
  }

  void see_units(Case& one) {
    for (const Unit& unit : units_) {
      if (influence_.contains(unit.name)) {
        continue;
      }
      const auto inputs = replaced(one.problem(), one.draw(), unit, one.inputs());
      if (inputs && one.reference(*inputs, one.draw()).oracle != one.oracle()) {
        influence_.insert(unit.name);
      }
    }
  }

  void see_singles(Case& one) {
    for (const Perturbation& change :
         perturbations(one.problem(), one.draw(), one.draw().key, kSingles)) {
      HostTensors inputs = one.inputs();
      Bytes& values = inputs.at(change.tensor);
      const std::size_t size = expr::size_of(one.problem().tensor(change.tensor)->type);
      std::memcpy(values.data() + static_cast<std::size_t>(change.to) * size,
                  values.data() + static_cast<std::size_t>(change.from) * size,
                  size);
      if (inputs == one.inputs()) {
        continue;
      }
      ++singles_;
      singles_felt_ += one.reference(inputs, one.draw()).oracle != one.oracle() ? 1 : 0;
    }
  }

  void see_growth(Case& one) {
    HostTensors inputs = one.inputs();
    double size = 0;
    for (auto& [name, values] : inputs) {
      if (!is_drawn(*one.problem().tensor(name))) {
        continue;
      }
      Nudged moved =
          nudged(one.problem().tensor(name)->type, values, one.draw().key.derive("nudge\n" + name));
      values = std::move(moved.values);
      size = std::max(size, moved.size);
    }
    if (size == 0) {
      return;
    }
    const Case::Answer answer = one.reference(inputs, one.draw());
    for (const auto& [output, values] : answer.oracle) {
      const expr::DType type = problem::oracle_type(one.problem().tensor(output)->type);
      if (expr::is_integer(type) || values.empty()) {
        continue;
      }
      const double growth =
          relative_change(reals(type, one.oracle().at(output)), reals(type, values)) / size;
      if (growth > growth_) {
        growth_ = growth;
        growth_shape_ = one.draw().shape;
        growth_output_ = output;
      }
    }
  }

  std::vector<Unit> units_;
  std::set<std::string> influence_;
  std::map<std::string, bool> varied_;
  std::map<std::string, Bytes> first_values_;
  int singles_ = 0, singles_felt_ = 0;
  double growth_ = 0;
  std::string growth_shape_, growth_output_;
};

}  // namespace

std::unique_ptr<RuleCheck> make_influence_rule(const problem::Problem& problem) {
  return std::make_unique<InfluenceRule>(problem);
}

}  // namespace sweep::evaluate::admission
