// Rule 2: solvers that compute nothing, or not everything, fail at every visible shape.
#include "evaluate/admission/changes.h"
#include "evaluate/admission/null_solvers.h"
#include "evaluate/admission/rule_check.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

class NullRule final : public RuleCheck {
 public:
  void see(Case& one, bool first) override {
    if (one.draw().content != "default") {
      return;
    }
    if (first) {
      shapes_.emplace_back(one.draw().shape, std::map<std::string, Record>{});
    } else if (std::ranges::all_of(shapes_.back().second,
                                   [](const auto& item) { return item.second.beaten; })) {
      return;  // nothing is left to beat at this shape
    }
    see_outputs(one);
    see_parameters(one);
    see_inputs(one);
  }

  [[nodiscard]] RuleResult result() const override {
    RuleResult result;
    result.rule = Rule::nulls;
    double nearest = std::numeric_limits<double>::infinity();
    std::string which;
    std::size_t tried = 0;
    for (const auto& [shape, records] : shapes_) {
      for (const auto& [solver, record] : records) {
        ++tried;
        if (!record.beaten) {
          result.fail(fmt::format(
              "{}: {} passes with {} of what is allowed", shape, solver, share_text(record.share)));
        } else if (record.share < nearest) {
          nearest = record.share;
          which = solver + " at " + shape;
        }
      }
    }
    result.worst = fmt::format("{} solvers and shapes", tried);
    if (!which.empty()) {
      result.worst += fmt::format("; nearest: {}, {}", which, times_text(nearest));
    }
    result.numbers = {{"tried", static_cast<double>(tried)}, {"nearest_share", nearest}};
    if (result.state == State::fails) {
      result.next =
          "tighten [tolerance] (scale, floor, ceiling, c_max, c_rms), or change fills and shapes "
          "so "
          "that the outputs depend on what such a solver leaves out";
    }
    return result;
  }

 private:
  struct Record {
    bool beaten = false;
    double share = 0;  // of the draw that beat it; else the largest
  };

  // Judges with `judge` unless an earlier draw of the shape has beaten this solver.
  template <class Judge>
  void attempt(const std::string& solver, const Judge& judge) {
    Record& record = shapes_.back().second[solver];
    if (!record.beaten) {
      const Opinion opinion = judge();
      record.beaten = !opinion.passes;
      record.share = record.beaten ? opinion.share : std::max(record.share, opinion.share);
    }
  }

  [[nodiscard]] bool beaten(const std::string& solver) const {
    const auto found = shapes_.back().second.find(solver);
    return found != shapes_.back().second.end() && found->second.beaten;
  }

  void see_outputs(Case& one) {
    std::vector<HostTensor> inputs;
    for (const Bench::Slot& slot : one.bench().slots()) {
      if (slot.pristine) {
        inputs.push_back({slot.tensor, &one.inputs().at(slot.tensor.name)});
      }
    }
    const HostTensors stale = stale_of(one);
    for (const Bench::Slot& slot : one.bench().slots()) {
      const std::string& output = slot.tensor.name;
      if (slot.is_input() || slot.tensor.count == 0) {
        continue;
      }
      const HostTensor right{slot.tensor, &one.right().at(output)};
      for (const NullSolver& solver : null_solvers(right, &stale.at(output), inputs)) {
        const std::string name = output + " = " + solver.name;
        if (beaten(name)) {
          continue;
        }
        const Bytes values = solver.make();
        if (!values.empty() && values != *right.values) {
          attempt(name, [&] { return one.of_one(output, values); });
        }
      }
    }
  }

  // The outputs of another draw with the same dims and scalars.
  static HostTensors stale_of(Case& one) {
    HostTensors inputs = one.inputs();
    for (const Unit& unit : units(one.problem())) {
      if (const auto other = replaced(one.problem(), one.draw(), unit, one.inputs())) {
        for (const std::string& name : unit.tensors) {
          inputs[name] = other->at(name);
        }
      }
    }
    return one.reference(inputs, one.draw()).narrowed;
  }

  void see_answer(Case& one, const std::string& name, const HostTensors& answer) {
    if (answer != one.right()) {
      attempt(name, [&] { return one.of_all(answer); });
    }
  }

  void see_parameters(Case& one) {
    for (const OtherDraw& other : other_parameters(one.problem(), one.draw())) {
      if (!beaten(other.name)) {
        see_answer(one, other.name, one.reference(one.inputs(), other.draw).narrowed);
      }
    }
  }

  void see_inputs(Case& one) {
    for (const Unit& unit : units(one.problem())) {
      const std::string name = "other " + unit.name;
      if (beaten(name)) {
        continue;
      }
      if (const auto inputs = replaced(one.problem(), one.draw(), unit, one.inputs())) {
        see_answer(one, name, one.reference(*inputs, one.draw()).narrowed);
      }
    }
    for (const Bench::Slot& slot : one.bench().slots()) {
      const std::string name = slot.tensor.name + " transposed";
      if (!slot.pristine || beaten(name)) {
        continue;
      }
      HostTensors inputs = one.inputs();
      if (auto turned = transposed(slot.tensor, inputs.at(slot.tensor.name))) {
        inputs[slot.tensor.name] = std::move(*turned);
        see_answer(one, name, one.reference(inputs, one.draw()).narrowed);
      }
    }
  }

  std::vector<std::pair<std::string, std::map<std::string, Record>>> shapes_;
};

}  // namespace

std::unique_ptr<RuleCheck> make_null_rule() {
  return std::make_unique<NullRule>();
}

}  // namespace sweep::evaluate::admission
