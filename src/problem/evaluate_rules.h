#pragma once

#include "expr/ast.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "problem/stream.h"

#include <string>

// Inside of the module: evaluation of located expressions with errors that name their place.
namespace sweep::problem {

// UsageError "where: what" from an expr::EvalError.
[[noreturn]] void fail_at(const Location& where,
                          const std::string& code,
                          const std::string& what,
                          const std::string& next = {});

[[nodiscard]] std::int64_t integer_of(const Located& rule, const expr::IntEnv& env);
[[nodiscard]] double real_of(const Located& rule, const expr::RealEnv& env);

// Real value of a subtree of `rule`.
[[nodiscard]] double real_of(const Located& rule, const expr::Node& node, const expr::RealEnv& env);

// A real expression in which log(a,b), uniform(a,b) and choice(..) draw from `stream`.
[[nodiscard]] double sample(const Located& rule, const expr::RealEnv& env, Stream& stream);

[[nodiscard]] expr::RealEnv to_real(const expr::IntEnv& env);

}  // namespace sweep::problem
