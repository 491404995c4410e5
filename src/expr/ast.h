#pragma once

#include "expr/expr.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::expr {

using NodePtr = std::shared_ptr<const Node>;

// One node of a parsed expression. Immutable after parsing; tree depth is at most 1024.
struct Node {
  enum class Kind {
    number,  // text = spelling; `integral` tells whether `integer` holds the value, `real` always
             // does
    name,    // text = "n" or "group.stat"
    unary,   // text = "-" or "!"; one operand
    binary,  // text = operator; two operands
    conditional,  // operands: condition, value if nonzero, value if zero
    call          // text = function; operands = arguments; argument_names beside them
  };
  Kind kind = Kind::number;
  std::size_t offset =
      0;  // byte of the node's first token (binary: its operator) in the parsed text
  std::string text;
  bool integral = false;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<NodePtr> operands;
  std::vector<std::string>
      argument_names;          // call only: "" for a positional argument, `fan` for `fan=k`
  bool parenthesised = false;  // written inside its own parentheses
  int depth = 1;               // height of the tree below, this node included
};

// An argument of a call by its name, or null.
[[nodiscard]] const Node* named_argument(const Node& call, std::string_view name);

struct Token {
  enum class Kind { end, newline, number, name, symbol, invalid };
  Kind kind = Kind::end;
  std::string_view text;   // into the tokenized text
  std::size_t offset = 0;  // byte offset of the token
};

enum class Comments { none, line };  // `line`: "//" up to the end of its line is white space

// Splits `text`; the last token is `end`. Never fails: a byte that starts no token becomes an
// `invalid` token. Names are ASCII identifiers, or two of them joined by a dot. The longest symbol
// wins ("<<<" before "<<").
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, Comments comments);

// Recursive-descent parser over tokens that outlive it. Throws SyntaxError. Newlines are skipped
// everywhere.
class Parser {
 public:
  struct Options {
    bool tuples = false;        // "(a, b)" becomes a call of "dim3"
    bool newlines_end = false;  // a newline ends an expression instead of being white space
    bool lists = false;         // "[a, b]" becomes a call of "list"
    // Asked at each name; may consume tokens and return a node of its own, or return null and
    // consume nothing.
    std::function<NodePtr(Parser&)> primary;
  };

  Parser(std::span<const Token> tokens, Options options);

  [[nodiscard]] NodePtr expression();
  // Like expression(), but an unparenthesised ">", ">=" or ">>" ends it (template arguments).
  [[nodiscard]] NodePtr template_argument();

  // The next token, or the one `ahead` tokens further on.
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;

  const Token& take();
  void take_raw();
  [[nodiscard]] bool at_symbol(std::string_view symbol) const;
  bool accept(std::string_view symbol);
  const Token& expect(std::string_view symbol);                  // E_EXPR_EXPECTED
  const Token& expect_name(std::string_view what);               // E_EXPR_EXPECTED
  [[noreturn]] void fail_expected(std::string_view what) const;  // at the next token

 private:
  struct Deeper;
  [[nodiscard]] NodePtr level(int precedence);
  [[nodiscard]] NodePtr unary();
  [[nodiscard]] NodePtr atom();
  [[nodiscard]] NodePtr parenthesised();
  [[nodiscard]] NodePtr call(const Token& name);
  [[nodiscard]] std::string_view operator_at(int precedence) const;

  std::span<const Token> tokens_;
  Options options_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool greater_ends_ = false;
};

// Operators and functions on plain values, for callers that walk the tree themselves. `text` is the
// operator or the function; all throw EvalError (without an offset). Unknown function or wrong
// number of arguments: E_EXPR_FUNCTION.
// `&&`, `||` and the conditional are the walker's, as they evaluate lazily.
[[nodiscard]] std::int64_t int_unary(std::string_view text, std::int64_t value);
[[nodiscard]] std::int64_t int_binary(std::string_view text,
                                      std::int64_t a,
                                      std::int64_t b,
                                      Division division);
[[nodiscard]] std::int64_t int_function(std::string_view text,
                                        std::span<const std::int64_t> arguments);
[[nodiscard]] double real_unary(std::string_view text, double value);
[[nodiscard]] double real_binary(std::string_view text, double a, double b);
[[nodiscard]] double real_function(std::string_view text, std::span<const double> arguments);
// Names of all functions, for suggestions: integer ones first.
[[nodiscard]] std::span<const std::string_view> function_names();

// Evaluation of a subtree, e.g. of an argument of a fill. Throws EvalError.
[[nodiscard]] std::int64_t eval_int(const Node& node, const IntEnv& env, Division division);
[[nodiscard]] double eval_real(const Node& node, const RealEnv& env);

}  // namespace sweep::expr
