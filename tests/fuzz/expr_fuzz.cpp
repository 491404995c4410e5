// An expression: parsed, evaluated both ways, and mangled names as the compiler gives them.
#include "expr/expr.h"
#include "submission/plan.h"
#include "target.h"

#include <cmath>

namespace sweep::fuzz {
namespace {

template <typename Evaluate>
void evaluated(const Evaluate& evaluate) {
  try {
    evaluate();
  } catch (const expr::EvalError& error) {
    must(error.code.starts_with("E_EXPR_"));
  }
}

}  // namespace

void fuzz(std::string_view input) {
  (void)submission::parameters_of(input);
  const auto result = expr::parse(input);
  if (const auto* error = std::get_if<expr::SyntaxError>(&result)) {
    must(error->offset <= input.size());
    return;
  }
  const auto& parsed = std::get<expr::Expr>(result);
  const expr::IntEnv whole{{"n", 1000}, {"m", -3}, {"csr.longest", 1LL << 40}};
  const expr::RealEnv real{{"n", 1e300}, {"m", -0.5}, {"csr.longest", 7}};
  for (const auto division : {expr::Division::exact, expr::Division::truncating}) {
    evaluated([&] { (void)expr::eval_int(parsed, whole, division); });
  }
  evaluated([&] { must(!std::isnan(expr::eval_real(parsed, real))); });
  (void)expr::names(parsed);
}

}  // namespace sweep::fuzz
