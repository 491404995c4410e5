#include "expr/expr.h"

#include "expr/ast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <variant>

namespace sweep::expr {
namespace {

Expr parsed(std::string_view text) {
  auto result = parse(text);
  if (const auto* error = std::get_if<SyntaxError>(&result)) {
    ADD_FAILURE() << text << ": " << error->code << " at " << error->offset << ": " << error->what;
    return std::get<Expr>(parse("0"));
  }
  return std::get<Expr>(std::move(result));
}

std::int64_t integer(std::string_view text,
                     const IntEnv& env = {},
                     Division division = Division::truncating) {
  return eval_int(parsed(text), env, division);
}

double real(std::string_view text, const RealEnv& env = {}) {
  return eval_real(parsed(text), env);
}

EvalError int_error(std::string_view text, Division division = Division::truncating) {
  try {
    const std::int64_t value = integer(text, {}, division);
    ADD_FAILURE() << text << " gave " << value;
  } catch (const EvalError& error) {
    return error;
  }
  return {};
}

SyntaxError syntax_error(std::string_view text) {
  auto result = parse(text);
  if (const auto* error = std::get_if<SyntaxError>(&result)) {
    return *error;
  }
  ADD_FAILURE() << text << " parsed";
  return {};
}

TEST(Expr, PrecedenceFollowsC) {
  EXPECT_EQ(integer("2 + 3*4"), 14);
  EXPECT_EQ(integer("2 - 3 - 4"), -5);
  EXPECT_EQ(integer("(2 + 3)*4 % 7"), 6);
  EXPECT_EQ(integer("1 << 3 + 1"), 16);
  EXPECT_EQ(integer("1 < 2 && 3 != 4"), 1);
  EXPECT_EQ(integer("0 && 1 || 1"), 1);
  EXPECT_EQ(integer("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(integer("-2 * -3"), 6);
  EXPECT_EQ(integer("!0 + !5"), 1);
  EXPECT_EQ(integer("0x1F"), 31);
}

TEST(Expr, DivisionIsTruncatingOrExact) {
  EXPECT_EQ(integer("7 / 2"), 3);
  EXPECT_EQ(integer("-7 / 2"), -3);
  EXPECT_EQ(integer("8 / 2", {}, Division::exact), 4);
  EXPECT_EQ(int_error("7 / 2", Division::exact).code, "E_EXPR_INEXACT");
  EXPECT_DOUBLE_EQ(real("7 / 2"), 3.5);
}

TEST(Expr, IntegerFunctions) {
  EXPECT_EQ(integer("ceildiv(7, 2) + floordiv(-7, 2)"), 0);
  EXPECT_EQ(integer("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(integer("align(13, 8) + min(3, 1, 2) + max(4, 9) + abs(-5)"), 31);
  EXPECT_EQ(integer("clamp(50, 1, 32)"), 32);
  EXPECT_EQ(integer("log2floor(9)*100 + log2ceil(9)*10 + log2ceil(8)"), 343);
  EXPECT_EQ(integer("pow2ceil(1) + pow2ceil(17)"), 33);
  EXPECT_EQ(integer("sizeof(bf16) + sizeof(c128)"), 18);
  EXPECT_EQ(int_error("sqrt(4)").code, "E_EXPR_FUNCTION");
  EXPECT_EQ(int_error("log2ceil(0)").code, "E_EXPR_DOMAIN");
  EXPECT_EQ(int_error("ceildiv(1)").code, "E_EXPR_FUNCTION");
}

TEST(Expr, RealFunctions) {
  EXPECT_DOUBLE_EQ(real("sqrt(2)*sqrt(2) + cbrt(27) + exp(0) + log(1) + pow(2, 10)"),
                   2.0 + 3 + 1 + 1024);
  EXPECT_DOUBLE_EQ(real("ceildiv(7, 2) + align(13, 8) + log2ceil(9) + pow2ceil(9) + log2floor(9)"),
                   4 + 16 + 4 + 16 + 3.0);
  EXPECT_DOUBLE_EQ(real("log2ceil(8) + pow2ceil(8)"), 11);
  EXPECT_DOUBLE_EQ(real("4e11 * 3e-8 + .5 + 1.5f"), 12002);
  EXPECT_DOUBLE_EQ(real("part.nonempty * 2", {{"part.nonempty", 3.0}}), 6);
  EXPECT_TRUE(std::isinf(real("inf")));
  EXPECT_DOUBLE_EQ(real("1 << 22"), 4194304);
}

TEST(Expr, EvaluationIsLazyAndChecked) {
  EXPECT_EQ(integer("n == 0 ? 0 : 10 / n", {{"n", 0}}), 0);
  EXPECT_EQ(integer("n != 0 && 10 / n > 1", {{"n", 0}}), 0);
  EXPECT_EQ(int_error("9223372036854775807 + 1").code, "E_EXPR_OVERFLOW");
  EXPECT_EQ(int_error("4294967296 * 4294967296").code, "E_EXPR_OVERFLOW");
  EXPECT_EQ(int_error("1 << 63").code, "E_EXPR_OVERFLOW");
  EXPECT_EQ(int_error("(-9223372036854775807 - 1) / -1").code, "E_EXPR_OVERFLOW");
  EXPECT_EQ(int_error("1 % 0").code, "E_EXPR_ZERO_DIVISION");
  EXPECT_EQ(int_error("1.5").code, "E_EXPR_NOT_INTEGER");
  const EvalError error = int_error("1 + 2*rows");
  EXPECT_EQ(error.code, "E_EXPR_UNKNOWN_NAME");
  EXPECT_EQ(error.offset, 6U);
}

TEST(Expr, CallsKeepNamedArguments) {
  const Expr fill = parsed("normal(mean=0, std=2*k)");
  ASSERT_EQ(fill.root().kind, Node::Kind::call);
  EXPECT_EQ(fill.root().text, "normal");
  ASSERT_NE(named_argument(fill.root(), "std"), nullptr);
  EXPECT_DOUBLE_EQ(eval_real(*named_argument(fill.root(), "std"), {{"k", 4.0}}), 8.0);
  EXPECT_EQ(named_argument(fill.root(), "fan"), nullptr);
  EXPECT_EQ(names(fill), std::vector<std::string>{"k"});
  const Expr range = parsed("free(1, 1<<22)");
  EXPECT_EQ(eval_int(*range.root().operands[1], {}, Division::exact), 1 << 22);
  EXPECT_EQ(parsed("log(1, min(64*rows, 1<<26))").root().operands.size(), 2U);
  EXPECT_THROW(static_cast<void>(real("min(a=1)")), EvalError);
}

TEST(Expr, SyntaxErrorsPointAtTheirByte) {
  EXPECT_EQ(syntax_error("1 +").offset, 3U);
  EXPECT_EQ(syntax_error("1 + @").offset, 4U);
  EXPECT_EQ(syntax_error("min(1, 2").code, "E_EXPR_EXPECTED");
  EXPECT_EQ(syntax_error("1 2").offset, 2U);
  EXPECT_EQ(syntax_error("").code, "E_EXPR_EXPECTED");
  EXPECT_EQ(syntax_error("1 < 2 < 3").offset, 6U);
  EXPECT_EQ(syntax_error("010").code, "E_EXPR_NUMBER");
  EXPECT_EQ(syntax_error("99999999999999999999").code, "E_EXPR_NUMBER");
  EXPECT_EQ(syntax_error("a & b == c").code, "E_EXPR_MIXED");
  EXPECT_EQ(syntax_error("a | b & c").code, "E_EXPR_MIXED");
  EXPECT_EQ(syntax_error("f(1,)").code, "E_EXPR_EXPECTED");
  EXPECT_EQ(integer("(6 & 3) == 2"), 1);
  EXPECT_EQ(integer("1 << 3 | 2"), 10);
}

TEST(Expr, HostileTextIsRefusedQuickly) {
  EXPECT_EQ(syntax_error(std::string(5000, '(')).code, "E_EXPR_DEPTH");
  EXPECT_EQ(syntax_error(std::string(5000, '!') + "1").code, "E_EXPR_DEPTH");
  std::string sum = "1";
  std::string question;
  for (int i = 0; i < 5000; ++i) {
    sum += "+1";
    question += "1?1:";
  }
  EXPECT_EQ(syntax_error(sum).code, "E_EXPR_DEPTH");
  EXPECT_EQ(syntax_error(question + "1").code, "E_EXPR_DEPTH");
  EXPECT_EQ(syntax_error(std::string(70000, ' ')).code, "E_EXPR_LENGTH");
}

TEST(Expr, RandomTextNeverCrashes) {
  const std::vector<std::string> pieces{"1",  "n",  "(",   ")",  "+",    "-",          "*",
                                        "/",  "%",  "?",   ":",  "<",    "<<",         ">",
                                        "==", "&&", "min", ",",  "=",    ".",          "3.5",
                                        "0x", "e9", " ",   "\n", "\x80", "group.stat", "sizeof"};
  std::mt19937 random(7);
  int valid = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto i = random() % 12; i > 0; --i) {
      text += pieces[random() % pieces.size()];
    }
    auto result = parse(text);
    if (const auto* error = std::get_if<SyntaxError>(&result)) {
      EXPECT_LE(error->offset, text.size());
      continue;
    }
    ++valid;
    try {
      static_cast<void>(eval_int(std::get<Expr>(result), {{"n", 5}}, Division::exact));
    } catch (const EvalError& error) {
      EXPECT_TRUE(error.located) << text;
    }
  }
  EXPECT_GT(valid, 100);
}

TEST(DTypes, NamesRoundTrip) {
  for (const std::string_view text : {"f64",
                                      "f32",
                                      "f16",
                                      "bf16",
                                      "e4m3",
                                      "e5m2",
                                      "i64",
                                      "i32",
                                      "i16",
                                      "i8",
                                      "u64",
                                      "u32",
                                      "u16",
                                      "u8",
                                      "bool",
                                      "c64",
                                      "c128"}) {
    const auto type = parse_dtype(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(name(*type), text);
    EXPECT_EQ(is_float(*type) + is_integer(*type) + is_complex(*type), 1);
  }
  EXPECT_EQ(size_of(DType::c128), 16U);
  EXPECT_EQ(cpp_name(DType::i64), "long long");
  EXPECT_FALSE(parse_dtype("float").has_value());
}

}  // namespace
}  // namespace sweep::expr
