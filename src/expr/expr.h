#pragma once

#include "expr/dtype.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sweep::expr {

// One grammar (docs: problem schema, section 4), two ways to compute: 64-bit checked integers with
// exact division (dims, shapes) and doubles (work, limits, scalars). Plans use the same grammar
// with C's truncating `/`.
enum class Division { exact, truncating };

struct Node;  // defined in expr/ast.h, immutable

// A parsed expression; cheap to copy.
class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const Node> root, std::string text);

  [[nodiscard]] const Node& root() const { return *root_; }

  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] bool empty() const { return root_ == nullptr; }

 private:
  std::shared_ptr<const Node> root_;
  std::string text_;
};

// What is wrong and where: `offset` counts bytes from the start of the text.
struct SyntaxError {
  std::string code;  // "E_EXPR_..."
  std::size_t offset = 0;
  std::string what;
};

// Nesting is bounded by 64, the tree's depth by 1024, text by 64 KiB. Where C's precedence of `&`
// and `|` would give another tree than this grammar, parentheses are demanded (E_EXPR_MIXED).
[[nodiscard]] std::variant<Expr, SyntaxError> parse(std::string_view text);

// Thrown by evaluation: overflow, zero or inexact division, unknown name. `code` is "E_EXPR_...".
struct EvalError {
  std::string code;
  std::string what;
  std::size_t offset = 0;  // byte in the expression's text, if located
  bool located = false;
};

// Values of names; integers stay exact in integer mode. "group.stat" names are looked up with the
// dot.
using IntEnv = std::map<std::string, std::int64_t, std::less<>>;
using RealEnv = std::map<std::string, double, std::less<>>;

// Booleans are 0 and 1. Integer mode knows `sizeof(TYPE)`; real mode the name `inf`; a real result
// is never NaN.
[[nodiscard]] std::int64_t eval_int(const Expr& expr,
                                    const IntEnv& env,
                                    Division division);                // throws EvalError
[[nodiscard]] double eval_real(const Expr& expr, const RealEnv& env);  // throws EvalError

// Free names in order of first use; functions are not names.
[[nodiscard]] std::vector<std::string> names(const Expr& expr);

}  // namespace sweep::expr
