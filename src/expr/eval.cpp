#include "expr/ast.h"
#include "expr/expr.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace sweep::expr {
namespace {

[[noreturn]] void unknown_name(const std::string& name) {
  throw EvalError{"E_EXPR_UNKNOWN_NAME", "unknown name '" + name + "'"};
}

// Positional arguments only; the functions of the grammar take no names.
void refuse_named(const Node& call) {
  for (const std::string& name : call.argument_names) {
    if (!name.empty()) {
      throw EvalError{"E_EXPR_FUNCTION", call.text + " takes no argument named '" + name + "'"};
    }
  }
}

// Integer arithmetic over an environment.
struct Integers {
  using Value = std::int64_t;
  const IntEnv& env;
  Division division;

  [[nodiscard]] Value number(const Node& node) const {
    if (!node.integral) {
      throw EvalError{"E_EXPR_NOT_INTEGER",
                      "'" + node.text + "' is no integer; this place needs one"};
    }
    return node.integer;
  }

  [[nodiscard]] Value name(const Node& node) const {
    const auto found = env.find(node.text);
    if (found == env.end()) {
      unknown_name(node.text);
    }
    return found->second;
  }

  [[nodiscard]] std::optional<Value> special(const Node& call) const {
    if (call.text != "sizeof") {
      return std::nullopt;
    }
    const bool single =
        call.operands.size() == 1 && call.operands.front()->kind == Node::Kind::name;
    const auto type = single ? parse_dtype(call.operands.front()->text) : std::nullopt;
    if (!type) {
      throw EvalError{"E_EXPR_FUNCTION", "sizeof takes one element type, as in sizeof(f32)"};
    }
    return static_cast<Value>(size_of(*type));
  }

  [[nodiscard]] Value unary(const std::string& op, Value a) const { return int_unary(op, a); }

  [[nodiscard]] Value binary(const std::string& op, Value a, Value b) const {
    return int_binary(op, a, b, division);
  }

  [[nodiscard]] Value function(const std::string& text, std::span<const Value> arguments) const {
    return int_function(text, arguments);
  }
};

// Doubles over an environment; "inf" is known unless the environment redefines it.
struct Reals {
  using Value = double;
  const RealEnv& env;

  [[nodiscard]] Value number(const Node& node) const { return node.real; }

  [[nodiscard]] Value name(const Node& node) const {
    const auto found = env.find(node.text);
    if (found != env.end()) {
      return found->second;
    }
    if (node.text != "inf") {
      unknown_name(node.text);
    }
    return std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] std::optional<Value> special(const Node& /*call*/) const { return std::nullopt; }

  [[nodiscard]] Value unary(const std::string& op, Value a) const { return real_unary(op, a); }

  [[nodiscard]] Value binary(const std::string& op, Value a, Value b) const {
    return real_binary(op, a, b);
  }

  [[nodiscard]] Value function(const std::string& text, std::span<const Value> arguments) const {
    return real_function(text, arguments);
  }
};

template <typename Rules>
typename Rules::Value walk(const Node& node, const Rules& rules);

template <typename Rules>
typename Rules::Value walk_binary(const Node& node, const Rules& rules) {
  using Value = typename Rules::Value;
  const Value left = walk(*node.operands[0], rules);
  if (node.text == "&&" || node.text == "||") {
    const bool decided = (left != 0) == (node.text == "||");
    return (decided ? left != 0 : walk(*node.operands[1], rules) != 0) ? Value{1} : Value{0};
  }
  return rules.binary(node.text, left, walk(*node.operands[1], rules));
}

template <typename Rules>
typename Rules::Value walk_call(const Node& node, const Rules& rules) {
  refuse_named(node);
  if (const auto value = rules.special(node)) {
    return *value;
  }
  std::vector<typename Rules::Value> arguments;
  arguments.reserve(node.operands.size());
  for (const NodePtr& operand : node.operands) {
    arguments.push_back(walk(*operand, rules));
  }
  return rules.function(node.text, arguments);
}

template <typename Rules>
typename Rules::Value walk_node(const Node& node, const Rules& rules) {
  switch (node.kind) {
    case Node::Kind::number:
      return rules.number(node);
    case Node::Kind::name:
      return rules.name(node);
    case Node::Kind::unary:
      return rules.unary(node.text, walk(*node.operands[0], rules));
    case Node::Kind::binary:
      return walk_binary(node, rules);
    case Node::Kind::conditional:
      return walk(*node.operands[walk(*node.operands[0], rules) != 0 ? 1 : 2], rules);
    case Node::Kind::call:
      break;
  }
  return walk_call(node, rules);
}

// Errors carry the offset of the innermost node; those from deeper down arrive with theirs set.
template <typename Rules>
typename Rules::Value walk(const Node& node, const Rules& rules) {
  try {
    return walk_node(node, rules);
  } catch (EvalError& error) {
    if (!error.located) {
      error.offset = node.offset;
      error.located = true;
    }
    throw;
  }
}

void collect(const Node& node, std::vector<std::string>& found) {
  if (node.kind == Node::Kind::name &&
      std::find(found.begin(), found.end(), node.text) == found.end()) {
    found.push_back(node.text);
  }
  if (node.kind == Node::Kind::call && node.text == "sizeof") {
    return;
  }
  for (const NodePtr& operand : node.operands) {
    collect(*operand, found);
  }
}

}  // namespace

std::int64_t eval_int(const Node& node, const IntEnv& env, Division division) {
  return walk(node, Integers{env, division});
}

double eval_real(const Node& node, const RealEnv& env) {
  return walk(node, Reals{env});
}

std::int64_t eval_int(const Expr& expr, const IntEnv& env, Division division) {
  return eval_int(expr.root(), env, division);
}

double eval_real(const Expr& expr, const RealEnv& env) {
  return eval_real(expr.root(), env);
}

std::vector<std::string> names(const Expr& expr) {
  std::vector<std::string> found;
  if (!expr.empty()) {
    collect(expr.root(), found);
  }
  return found;
}

}  // namespace sweep::expr
