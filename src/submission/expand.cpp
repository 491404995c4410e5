#include "submission/machine.h"
#include "submission/names.h"
#include "submission/plan.h"
#include "submission/plan_text.h"

#include <string>
#include <utility>

namespace sweep::submission {
namespace {

std::string shape_text(const Signature& signature, const Binding& binding) {
  std::string out;
  for (const std::string& dim : signature.dims) {
    const auto found = binding.dims.find(dim);
    if (found != binding.dims.end()) {
      out += " " + dim + "=" + std::to_string(found->second);
    }
  }
  return out.empty() ? out : " at" + out;
}

}  // namespace

std::variant<Expansion, PlanError> expand(const Submission& submission,
                                          const Signature& signature,
                                          const Binding& binding,
                                          std::int64_t max_launches) {
  if (auto error = check_names(submission, signature)) {
    return std::move(*error);
  }
  try {
    return Machine(submission, signature, binding, max_launches).run(signature);
  } catch (const RunFault& fault) {
    return error_at(submission.file,
                    submission.source,
                    fault.offset,
                    fault.code,
                    fault.what + shape_text(signature, binding),
                    fault.next);
  } catch (const expr::EvalError& error) {
    return PlanError{
        "E_PLAN_BINDING",
        submission.file,
        0,
        0,
        "a tensor's shape cannot be computed: " + error.what + shape_text(signature, binding),
        ""};
  }
}

}  // namespace sweep::submission
