#pragma once

#include "evaluate/admission/admission.h"
#include "evaluate/admission/case.h"

#include <memory>

namespace sweep::evaluate::admission {

// A rule that looks at the draws of the visible shapes one after another.
class RuleCheck {
 public:
  virtual ~RuleCheck() = default;

  // Cases come shape by shape, and by content within a shape, `first` of each shape and content.
  virtual void see(Case& one, bool first) = 0;
  [[nodiscard]] virtual RuleResult result() const = 0;

  // Whether it copies tensors to the host: such rules leave out shapes of many bytes.
  [[nodiscard]] virtual bool on_host() const { return true; }
};

[[nodiscard]] std::unique_ptr<RuleCheck> make_null_rule();
[[nodiscard]] std::unique_ptr<RuleCheck> make_precision_rule(problem::Precision precision);
[[nodiscard]] std::unique_ptr<RuleCheck> make_honest_rule(const Options& options);
[[nodiscard]] std::unique_ptr<RuleCheck> make_influence_rule(const problem::Problem& problem);

}  // namespace sweep::evaluate::admission
