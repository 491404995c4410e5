#include "problem/evaluate_rules.h"

#include "util/error.h"

#include <cmath>

namespace sweep::problem {
namespace {

double sample_node(const expr::Node& node, const expr::RealEnv& env, Stream& stream);

// log(a,b): log-uniform; both bounds above 0.
double sample_log(double low, double high, Stream& stream) {
  if (!(low > 0) || high < low) {
    throw expr::EvalError{"E_DRAW_RULE", "log(a, b) needs 0 < a <= b"};
  }
  return random::exp_of(random::log_of(low) +
                        (random::log_of(high) - random::log_of(low)) * stream.unit());
}

std::vector<double> values(const expr::Node& node, const expr::RealEnv& env, Stream& stream) {
  std::vector<double> out;
  for (const auto& operand : node.operands) {
    out.push_back(sample_node(*operand, env, stream));
  }
  return out;
}

double sample_call(const expr::Node& node, const expr::RealEnv& env, Stream& stream) {
  const std::vector<double> a = values(node, env, stream);
  if (node.text == "log" && a.size() == 2) {
    return sample_log(a[0], a[1], stream);
  }
  if (node.text == "uniform") {
    if (a.size() != 2 || a[1] < a[0]) {
      throw expr::EvalError{"E_DRAW_RULE", "uniform(a, b) needs a <= b"};
    }
    // Both ends as likely as the rest once rounded to integers.
    return a[0] - 0.5 + (a[1] - a[0] + 1.0) * stream.unit();
  }
  if (node.text == "choice") {
    if (a.empty()) {
      throw expr::EvalError{"E_DRAW_RULE", "choice(..) is empty"};
    }
    return a[stream.below(a.size())];
  }
  return expr::real_function(node.text, a);
}

double sample_node(const expr::Node& node, const expr::RealEnv& env, Stream& stream) {
  using Kind = expr::Node::Kind;
  switch (node.kind) {
    case Kind::call:
      return sample_call(node, env, stream);
    case Kind::unary:
      return expr::real_unary(node.text, sample_node(*node.operands[0], env, stream));
    case Kind::binary: {
      const double a = sample_node(*node.operands[0], env, stream);
      const double b = sample_node(*node.operands[1], env, stream);
      if (node.text == "&&") {
        return a != 0 && b != 0 ? 1 : 0;
      }
      return node.text == "||" ? (a != 0 || b != 0 ? 1 : 0) : expr::real_binary(node.text, a, b);
    }
    case Kind::conditional:
      return sample_node(*node.operands[0], env, stream) != 0
                 ? sample_node(*node.operands[1], env, stream)
                 : sample_node(*node.operands[2], env, stream);
    default:
      return expr::eval_real(node, env);
  }
}

}  // namespace

void fail_at(const Location& where,
             const std::string& code,
             const std::string& what,
             const std::string& next) {
  throw util::UsageError({where.text(), what, next}, code);
}

std::int64_t integer_of(const Located& rule, const expr::IntEnv& env) {
  try {
    return expr::eval_int(rule.expr, env, expr::Division::exact);
  } catch (const expr::EvalError& fault) {
    fail_at(rule.where, fault.code, fault.what + " in '" + rule.expr.text() + "'");
  }
}

double real_of(const Located& rule, const expr::RealEnv& env) {
  return real_of(rule, rule.expr.root(), env);
}

double real_of(const Located& rule, const expr::Node& node, const expr::RealEnv& env) {
  try {
    return expr::eval_real(node, env);
  } catch (const expr::EvalError& fault) {
    fail_at(rule.where, fault.code, fault.what + " in '" + rule.expr.text() + "'");
  }
}

double sample(const Located& rule, const expr::RealEnv& env, Stream& stream) {
  try {
    return sample_node(rule.expr.root(), env, stream);
  } catch (const expr::EvalError& fault) {
    fail_at(rule.where, fault.code, fault.what + " in '" + rule.expr.text() + "'");
  }
}

expr::RealEnv to_real(const expr::IntEnv& env) {
  expr::RealEnv out;
  for (const auto& [name, value] : env) {
    out[name] = static_cast<double>(value);
  }
  return out;
}

}  // namespace sweep::problem
