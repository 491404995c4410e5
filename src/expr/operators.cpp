#include "expr/ast.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace sweep::expr {
namespace {

constexpr std::array<std::string_view, 18> kFunctions{"min",
                                                      "max",
                                                      "abs",
                                                      "clamp",
                                                      "ceildiv",
                                                      "floordiv",
                                                      "align",
                                                      "log2floor",
                                                      "log2ceil",
                                                      "pow2ceil",
                                                      "sqrt",
                                                      "cbrt",
                                                      "exp",
                                                      "log",
                                                      "pow",
                                                      "sin",
                                                      "cos",
                                                      "floor"};
constexpr std::size_t kIntegerFunctions = 10;
// Doubles hold every integer up to here.
constexpr double kExactIntegers = 9007199254740992.0;

[[noreturn]] void fail(std::string code, std::string what) {
  throw EvalError{std::move(code), std::move(what)};
}

[[noreturn]] void overflow(std::string_view text, std::int64_t a, std::int64_t b) {
  fail("E_EXPR_OVERFLOW",
       std::to_string(a) + " " + std::string(text) + " " + std::to_string(b) +
           " does not fit 64 bits");
}

void zero_divisor(bool zero, std::string_view text) {
  if (zero) {
    fail("E_EXPR_ZERO_DIVISION", "'" + std::string(text) + "' divides by zero");
  }
}

std::int64_t checked(std::string_view text, std::int64_t a, std::int64_t b, Division division) {
  std::int64_t result = 0;
  const char op = text.front();
  if (op == '+' ? __builtin_add_overflow(a, b, &result)
                : (op == '-' ? __builtin_sub_overflow(a, b, &result)
                             : op == '*' && __builtin_mul_overflow(a, b, &result))) {
    overflow(text, a, b);
  }
  if (op == '+' || op == '-' || op == '*') {
    return result;
  }
  zero_divisor(b == 0, text);
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) {
    overflow(text, a, b);
  }
  if (op == '%') {
    return a % b;
  }
  if (division == Division::exact && a % b != 0) {
    fail("E_EXPR_INEXACT",
         std::to_string(a) + " / " + std::to_string(b) +
             " is no integer; write ceildiv or floordiv");
  }
  return a / b;
}

std::int64_t shifted(std::string_view text, std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 62) {
    fail("E_EXPR_OVERFLOW", "shift by " + std::to_string(b) + " is outside 0..62");
  }
  if (text == ">>") {
    return a >> b;
  }
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, std::int64_t{1} << b, &result)) {
    overflow(text, a, b);
  }
  return result;
}

std::int64_t floor_division(std::int64_t a, std::int64_t b, std::string_view text) {
  zero_divisor(b == 0, text);
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) {
    overflow("/", a, b);
  }
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && ((a < 0) != (b < 0))) ? 1 : 0);
}

std::int64_t ceil_division(std::int64_t a, std::int64_t b, std::string_view text) {
  const std::int64_t below = floor_division(a, b, text);
  return below + (a % b != 0 ? 1 : 0);
}

// The least e with 2^e >= value, value > 0.
int log2_ceil(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value) - 1U));
}

std::int64_t powers(std::string_view text, std::int64_t value) {
  if (value <= 0) {
    fail("E_EXPR_DOMAIN",
         std::string(text) + "(" + std::to_string(value) + ") needs a value above 0");
  }
  if (text == "log2floor") {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
  }
  const int exponent = log2_ceil(value);
  if (text == "log2ceil") {
    return exponent;
  }
  if (exponent > 62) {
    fail("E_EXPR_OVERFLOW", "pow2ceil(" + std::to_string(value) + ") does not fit 64 bits");
  }
  return std::int64_t{1} << exponent;
}

void expect_count(std::string_view text, std::size_t given, std::size_t least, std::size_t most) {
  if (given < least || given > most) {
    fail("E_EXPR_FUNCTION",
         std::string(text) + " takes " + (most > least ? "at least " : "") + std::to_string(least) +
             (least == 1 && most == 1 ? " argument" : " arguments") + ", got " +
             std::to_string(given));
  }
}

[[noreturn]] void unknown_function(std::string_view text, bool integer_mode) {
  const auto* const found = std::find(kFunctions.begin(), kFunctions.end(), text);
  if (integer_mode && found != kFunctions.end()) {
    fail("E_EXPR_FUNCTION", "'" + std::string(text) + "' gives no integer; this place needs one");
  }
  std::string known;
  for (const std::string_view name : kFunctions) {
    known += (known.empty() ? "" : " ") + std::string(name);
  }
  fail("E_EXPR_FUNCTION",
       "unknown function '" + std::string(text) + "' (there are: " + known + ")");
}

std::int64_t as_integer(std::string_view text, double value) {
  if (value != std::floor(value) || std::fabs(value) > kExactIntegers) {
    fail("E_EXPR_DOMAIN", "'" + std::string(text) + "' needs integers of at most 53 bits");
  }
  return static_cast<std::int64_t>(value);
}

double real_of(std::string_view text, double result) {
  if (std::isnan(result)) {
    fail("E_EXPR_DOMAIN", "'" + std::string(text) + "' has no real value here");
  }
  return result;
}

double one_argument(std::string_view text, double x) {
  if (text == "abs") {
    return std::fabs(x);
  }
  if (text == "log2floor" || text == "log2ceil" || text == "pow2ceil") {
    if (!(x > 0)) {
      fail("E_EXPR_DOMAIN", std::string(text) + " needs a value above 0");
    }
    int exponent = 0;  // x = fraction * 2^exponent, fraction in [0.5, 1)
    const double fraction = std::frexp(x, &exponent);
    const int ceiling = fraction == 0.5 ? exponent - 1 : exponent;
    return text == "log2floor" ? exponent - 1
                               : (text == "log2ceil" ? ceiling : std::ldexp(1.0, ceiling));
  }
  if ((text == "log" && !(x > 0)) || (text == "sqrt" && x < 0)) {
    fail("E_EXPR_DOMAIN", std::string(text) + " of " + std::to_string(x) + " has no value");
  }
  if (text == "sqrt") {
    return std::sqrt(x);
  }
  if (text == "cbrt") {
    return std::cbrt(x);
  }
  if (text == "exp") {
    return std::exp(x);
  }
  if (text == "log") {
    return std::log(x);
  }
  if (text == "sin") {
    return std::sin(x);
  }
  return text == "cos" ? std::cos(x) : std::floor(x);
}

double two_arguments(std::string_view text, double a, double b) {
  if (text == "pow") {
    return std::pow(a, b);
  }
  zero_divisor(b == 0, text);
  if (text == "floordiv") {
    return std::floor(a / b);
  }
  return text == "ceildiv" ? std::ceil(a / b) : std::ceil(a / b) * b;
}

std::size_t arity(std::string_view text) {
  if (text == "clamp") {
    return 3;
  }
  return text == "ceildiv" || text == "floordiv" || text == "align" || text == "pow" ? 2 : 1;
}

template <typename T>
T extreme(std::string_view text, std::span<const T> arguments) {
  expect_count(text, arguments.size(), 1, std::numeric_limits<std::size_t>::max());
  return text == "min" ? *std::min_element(arguments.begin(), arguments.end())
                       : *std::max_element(arguments.begin(), arguments.end());
}

template <typename T>
T clamped(std::span<const T> a) {
  if (a[1] > a[2]) {
    fail("E_EXPR_DOMAIN", "clamp(x, low, high) has low above high");
  }
  return std::clamp(a[0], a[1], a[2]);
}

}  // namespace

std::span<const std::string_view> function_names() {
  return kFunctions;
}

std::int64_t int_unary(std::string_view text, std::int64_t value) {
  if (text == "!") {
    return value == 0 ? 1 : 0;
  }
  return checked("-", 0, value, Division::truncating);
}

std::int64_t int_binary(std::string_view text, std::int64_t a, std::int64_t b, Division division) {
  if (text == "<<" || text == ">>") {
    return shifted(text, a, b);
  }
  if (text == "&") {
    return a & b;
  }
  if (text == "|") {
    return a | b;
  }
  if (text == "==") {
    return a == b ? 1 : 0;
  }
  if (text == "!=") {
    return a != b ? 1 : 0;
  }
  if (text == "<") {
    return a < b ? 1 : 0;
  }
  if (text == "<=") {
    return a <= b ? 1 : 0;
  }
  if (text == ">") {
    return a > b ? 1 : 0;
  }
  if (text == ">=") {
    return a >= b ? 1 : 0;
  }
  return checked(text, a, b, division);
}

std::int64_t int_function(std::string_view text, std::span<const std::int64_t> arguments) {
  const auto* const integer_end = kFunctions.begin() + kIntegerFunctions;
  if (std::find(kFunctions.begin(), integer_end, text) == integer_end) {
    unknown_function(text, true);
  }
  if (text == "min" || text == "max") {
    return extreme(text, arguments);
  }
  expect_count(text, arguments.size(), arity(text), arity(text));
  if (text == "abs") {
    return arguments[0] < 0 ? int_unary("-", arguments[0]) : arguments[0];
  }
  if (text == "clamp") {
    return clamped(arguments);
  }
  if (text == "ceildiv") {
    return ceil_division(arguments[0], arguments[1], text);
  }
  if (text == "floordiv") {
    return floor_division(arguments[0], arguments[1], text);
  }
  if (text == "align") {
    return checked(
        "*", ceil_division(arguments[0], arguments[1], text), arguments[1], Division::exact);
  }
  return powers(text, arguments[0]);
}

double real_unary(std::string_view text, double value) {
  return text == "!" ? (value == 0 ? 1.0 : 0.0) : -value;
}

double real_binary(std::string_view text, double a, double b) {
  if (text == "+") {
    return real_of(text, a + b);
  }
  if (text == "-") {
    return real_of(text, a - b);
  }
  if (text == "*") {
    return real_of(text, a * b);
  }
  if (text == "/") {
    zero_divisor(b == 0, text);
    return real_of(text, a / b);
  }
  if (text == "%") {
    zero_divisor(b == 0, text);
    return real_of(text, std::fmod(a, b));
  }
  if (text == "==" || text == "!=") {
    return (a == b) == (text == "==") ? 1.0 : 0.0;
  }
  if (text == "<" || text == ">") {
    return (text == "<" ? a < b : a > b) ? 1.0 : 0.0;
  }
  if (text == "<=" || text == ">=") {
    return (text == "<=" ? a <= b : a >= b) ? 1.0 : 0.0;
  }
  return static_cast<double>(
      int_binary(text, as_integer(text, a), as_integer(text, b), Division::truncating));
}

double real_function(std::string_view text, std::span<const double> arguments) {
  if (std::find(kFunctions.begin(), kFunctions.end(), text) == kFunctions.end()) {
    unknown_function(text, false);
  }
  if (text == "min" || text == "max") {
    return extreme(text, arguments);
  }
  expect_count(text, arguments.size(), arity(text), arity(text));
  if (text == "clamp") {
    return clamped(arguments);
  }
  return real_of(text,
                 arguments.size() == 2 ? two_arguments(text, arguments[0], arguments[1])
                                       : one_argument(text, arguments[0]));
}

}  // namespace sweep::expr
