// Rule 3: arithmetic of the next lower class fails by a factor of 3 at every visible shape.
#include "evaluate/admission/rule_check.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

constexpr double kMargin = 3;

class PrecisionRule final : public RuleCheck {
 public:
  explicit PrecisionRule(problem::Precision precision)
      : precision_(precision), lower_(problem::next_lower(precision)) {}

  void see(Case& one, bool first) override {
    if (first && one.draw().content == "default") {
      shapes_.emplace_back(one.draw().shape, std::map<std::string, double>{});
    }
    if (!lower_) {
      return;
    }
    HostTensors inputs = one.inputs();
    for (auto& [name, values] : inputs) {
      values = rounded(one.problem().tensor(name)->type, values, *lower_);
    }
    if (inputs != one.inputs()) {
      see_answer(one, "inputs", one.reference(inputs, one.draw()).narrowed);
    }
    HostTensors outputs = one.oracle();
    for (auto& [name, values] : outputs) {
      const expr::DType type = one.problem().tensor(name)->type;
      const expr::DType wide = problem::oracle_type(type);
      values = narrowed(type, rounded(wide, values, *lower_));
    }
    see_answer(one, "result", outputs);
  }

  [[nodiscard]] RuleResult result() const override {
    RuleResult result;
    result.rule = Rule::precision;
    if (!lower_) {
      result.worst = fmt::format("nothing is lower than {}", problem::name(precision_));
      return result;
    }
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [shape, variants] : shapes_) {
      for (const auto& [variant, share] : variants) {
        const std::string text = fmt::format(
            "{}: {} in {} has {}", shape, variant, problem::name(*lower_), times_text(share));
        if (share < kMargin) {
          result.fail(text + fmt::format(", not {:g} times", kMargin));
        }
        if (share <= least) {
          least = share;
          result.worst = text;
        }
      }
    }
    if (result.worst.empty()) {
      result.worst = fmt::format("no value of these draws changes in {}", problem::name(*lower_));
    }
    result.numbers = {{"least_share", least}};
    if (result.state == State::fails) {
      result.next = fmt::format(
          "tighten [tolerance] (floor, c_max, c_rms, scale), or declare precision = \"{}\"",
          problem::name(*lower_));
    }
    return result;
  }

 private:
  // The check stage has all contents and draws of a shape: the one that shows most counts.
  void see_answer(Case& one, const std::string& variant, const HostTensors& answer) {
    if (answer == one.right()) {
      return;
    }
    double& share = shapes_.back().second.try_emplace(variant, 0).first->second;
    share = std::max(share, one.of_all(answer).share);
  }

  problem::Precision precision_;
  std::optional<problem::Precision> lower_;
  std::vector<std::pair<std::string, std::map<std::string, double>>> shapes_;
};

}  // namespace

std::unique_ptr<RuleCheck> make_precision_rule(problem::Precision precision) {
  return std::make_unique<PrecisionRule>(precision);
}

}  // namespace sweep::evaluate::admission
