#include "evaluate/signature.h"

#include "problem/ranks.h"
#include "util/error.h"

namespace sweep::evaluate {
namespace {

submission::Role plan_role(problem::Role role) {
  switch (role) {
    case problem::Role::input:
      return submission::Role::input;
    case problem::Role::inout:
      return submission::Role::inout;
    case problem::Role::output:
      return submission::Role::output;
    case problem::Role::aux:
      return submission::Role::aux;
  }
  return submission::Role::other;
}

submission::Signature signature(const problem::Problem& problem, bool reference) {
  submission::Signature result;
  result.problem = problem.id;
  result.ranked = !reference && problem::ranked(problem);
  for (const problem::Dim& dim : problem.dims) {
    result.dims.push_back(dim.name);
  }
  for (const problem::Scalar* scalar : problem.arguments()) {
    result.scalars.push_back({scalar->name, scalar->type});
  }
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role == problem::Role::aux && !reference) {
      continue;
    }
    const bool oracle = reference && tensor.role != problem::Role::input;
    submission::Tensor made{tensor.name,
                            oracle ? problem::oracle_type(tensor.type) : tensor.type,
                            plan_role(tensor.role),
                            {},
                            tensor.per_rank && !reference};
    if (tensor.per_rank && reference) {
      made.shape.push_back(std::get<expr::Expr>(expr::parse("ranks")));
    }
    for (const problem::Located& extent : tensor.shape) {
      made.shape.push_back(extent.expr);
    }
    result.tensors.push_back(std::move(made));
  }
  return result;
}

[[noreturn]] void unsupported(const problem::Problem& problem, const std::string& what) {
  throw util::UsageError(
      {problem.id, what + " cannot be judged by this version", "choose another problem"},
      "E_EVALUATE_UNSUPPORTED");
}

}  // namespace

submission::Signature candidate_signature(const problem::Problem& problem) {
  return signature(problem, false);
}

submission::Signature reference_signature(const problem::Problem& problem) {
  return signature(problem, true);
}

void require_supported(const problem::Problem& problem) {
  if (problem.inputs_cu) {
    unsupported(problem, "inputs.cu");
  }
  if (problem.check_cu || !problem.checks.empty()) {
    unsupported(problem, "check.cu");
  }
}

}  // namespace sweep::evaluate
