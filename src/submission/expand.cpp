#include "submission/machine.h"
#include "submission/names.h"
#include "submission/plan.h"
#include "submission/plan_text.h"
#include "submission/ranks.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

std::int64_t count_of(const Signature& signature, const Binding& binding) {
  const auto found = binding.dims.find("ranks");
  return signature.ranked && found != binding.dims.end() ? std::max<std::int64_t>(found->second, 1)
                                                         : 0;
}

}  // namespace

std::variant<Expansion, PlanError> expand(const Submission& submission,
                                          const Signature& signature,
                                          const Binding& binding,
                                          std::int64_t max_launches) {
  if (auto error = check_names(submission, signature)) {
    return std::move(*error);
  }
  const std::int64_t ranks = count_of(signature, binding);
  std::int64_t rank = 0;
  try {
    if (ranks == 0) {
      return Machine(submission, signature, binding, max_launches).run(signature);
    }
    std::vector<RankRun> runs;
    for (; rank < ranks; ++rank) {
      Machine machine(submission, signature, binding, max_launches, rank);
      Expansion expansion = machine.run(signature);
      runs.push_back({std::move(expansion), machine.turns()});
    }
    auto all = merged(signature, std::move(runs), binding.rank_order);
    if (auto* error = std::get_if<PlanError>(&all)) {
      error->file = submission.file;
      error->what += shape_text(signature, binding);
    }
    return all;
  } catch (const RunFault& fault) {
    return error_at(submission.file,
                    submission.source,
                    fault.offset,
                    fault.code,
                    fault.what + shape_text(signature, binding) +
                        (ranks > 0 ? " on rank " + std::to_string(rank) : ""),
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
