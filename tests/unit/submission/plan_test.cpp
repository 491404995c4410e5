#include "submission/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace sweep::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Submission parsed(const std::string& source) {
  auto result = parse("mine.cu", source);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->code << ": " << error->text(source);
    return {};
  }
  return std::get<Submission>(std::move(result));
}

PlanError refused(const std::string& source,
                  const std::map<std::string, std::int64_t>& overrides = {}) {
  auto result = parse("mine.cu", source, overrides);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    return *error;
  }
  ADD_FAILURE() << "accepted: " << source;
  return {};
}

expr::Expr expression(std::string_view text) {
  return std::get<expr::Expr>(expr::parse(text));
}

Signature gemm() {
  Signature out;
  out.problem = "level1/3";
  out.dims = {"m", "n"};
  out.scalars = {{"alpha", expr::DType::f32}};
  out.tensors = {{"a", expr::DType::f32, Role::input, {expression("m"), expression("n")}},
                 {"ids", expr::DType::i32, Role::input, {expression("m")}},
                 {"c", expr::DType::f32, Role::output, {expression("m"), expression("n")}}};
  return out;
}

Binding values(std::int64_t m, std::int64_t n) {
  Binding out;
  out.dims = {{"m", m}, {"n", n}};
  out.scalars = {{"alpha", 0.25}};
  out.sm_count = 4;
  return out;
}

Expansion expanded(const std::string& source, const Binding& binding) {
  const Submission submission = parsed(source);
  auto result = expand(submission, gemm(), binding);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->code << ": " << error->text(source);
    return {};
  }
  return std::get<Expansion>(std::move(result));
}

std::string expansion_code(const std::string& source) {
  const Submission submission = parsed(source);
  auto result = expand(submission, gemm(), values(4, 6));
  const auto* error = std::get_if<PlanError>(&result);
  return error == nullptr ? "accepted" : error->code;
}

TEST(Plan, ReadsHeaderStatements) {
  const Submission s = parsed(
      "//@ problem level1/3\n//@ flags maxrregcount=64, fast_math\n//@ const A = 3, B = A*2\n"
      "//@ k<B><<<1, 1>>>()\n//@ if (A > 2) j<<<1, 1>>>()\n//@ k<B><<<1, 1>>>()\n");
  EXPECT_EQ(s.plan.problem, "level1/3");
  EXPECT_EQ(s.plan.flags.maxrregcount, 64);
  EXPECT_TRUE(s.plan.flags.fast_math);
  EXPECT_THAT(s.plan.constants,
              ElementsAre(std::pair<std::string, std::int64_t>("A", 3),
                          std::pair<std::string, std::int64_t>("B", 6)));
  EXPECT_THAT(name_expressions(s.plan), ElementsAre("k<6>", "j"));
  EXPECT_EQ(std::get<Submission>(parse("mine.ptx", "//@ k<<<1, 1>>>()\n.version 8.7\n")).language,
            Language::ptx);
}

TEST(Plan, RefusesEachMistakeWithItsCode) {
  const std::string launch = "//@ k<<<1, 1>>>(c)\n";
  EXPECT_EQ(refused("__global__ void k();").code, "E_PLAN_EMPTY");
  EXPECT_EQ(refused("/*@ k<<<1, 1>>>()").code, "E_PLAN_COMMENT");
  EXPECT_EQ(refused("//@ problem a/b\n//@ problem a/b\n" + launch).code, "E_PLAN_TWICE");
  EXPECT_EQ(refused("//@ problem gemm\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ const float = 3\n" + launch).code, "E_PLAN_NAME_RESERVED");
  EXPECT_EQ(refused("//@ const min = 3\n" + launch).code, "E_PLAN_NAME_RESERVED");
  EXPECT_EQ(refused("//@ const A = 3, A = 4\n" + launch).code, "E_PLAN_NAME_TAKEN");
  EXPECT_EQ(refused("//@ const A = m\n" + launch).code, "E_PLAN_NOT_CONST");
  EXPECT_EQ(refused("//@ const A = 0.5\n" + launch).code, "E_PLAN_TYPE");
  EXPECT_EQ(refused("//@ const A = 1/0\n" + launch).code, "E_PLAN_ZERO_DIVISION");
  EXPECT_EQ(refused("//@ flags O3\n" + launch).code, "E_PLAN_FLAG");
  EXPECT_EQ(refused("//@ flags maxrregcount=1\n" + launch).code, "E_PLAN_FLAG");
  EXPECT_EQ(refused("//@ scratch float p[3]\n" + launch).code, "E_PLAN_DTYPE");
  EXPECT_EQ(refused("//@ for (i = 0; i < 3; ++i) { scratch f32 p[3]\n//@ }").code, "E_PLAN_PLACE");
  EXPECT_EQ(refused("//@ if (m) { const A = 3 }\n" + launch).code, "E_PLAN_PLACE");
  EXPECT_EQ(refused("//@ x = 3\n" + launch).code, "E_PLAN_STATEMENT");
  EXPECT_EQ(refused("//@ scrach f32 p[3]\n" + launch).next, "did you mean 'scratch'?");
  EXPECT_EQ(refused("//@ for (i = 0; i < 3; --i) k<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ for (i = 0; 3 > i; ++i) k<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1, 0, stream>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1>>>() j<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ let s = 1\n//@ k<s><<<1, 1>>>()\n").code, "E_PLAN_NOT_CONST");
  EXPECT_EQ(refused("//@ k<<<1, 010>>>()\n").code, "E_PLAN_NUMBER");
  EXPECT_EQ(refused("//@ prepare { k<<<1, 1>>>() }\n" + launch).code, "E_PLAN_NOT_YET");
  EXPECT_EQ(refused("//@ k<<<1, 1, 0, cooperative>>>()\n").code, "E_PLAN_NOT_YET");
  EXPECT_EQ(refused("//@ }\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ if (m) { k<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ const TILE = 3\n" + launch, {{"TIL", 4}}).code, "E_PLAN_OVERRIDE");
  EXPECT_EQ(refused(std::string((1 << 20) + 1, ' ')).code, "E_PLAN_LIMIT");
}

TEST(Plan, RefusesWhatCannotRun) {
  EXPECT_EQ(expansion_code("//@ const m = 3\n//@ k<<<1, 1>>>(c)"), "E_PLAN_NAME_TAKEN");
  EXPECT_EQ(expansion_code("//@ let x = 1\n//@ if (1) let x = 2\n//@ k<<<1, 1>>>(c)"),
            "E_PLAN_NAME_TAKEN");
  EXPECT_EQ(expansion_code("//@ zero(a)\n"), "E_PLAN_READ_ONLY");
  EXPECT_EQ(expansion_code("//@ copy(c, ids)\n"), "E_PLAN_COPY_SIZE");
  EXPECT_EQ(expansion_code("//@ copy(c, offset(a, 1))\n"), "E_PLAN_TYPE");
  EXPECT_EQ(expansion_code("//@ zero(m)\n"), "E_PLAN_TYPE");
  EXPECT_EQ(expansion_code("//@ k<<<a + 1, 1>>>(c)"), "E_PLAN_TYPE");
  EXPECT_EQ(expansion_code("//@ k<<<alpha, 1>>>(c)"), "E_PLAN_TYPE");
  EXPECT_EQ(expansion_code("//@ k<<<1, 1025>>>(c)"), "E_PLAN_BLOCK");
  EXPECT_EQ(expansion_code("//@ k<<<1, (1, 1, 65)>>>(c)"), "E_PLAN_BLOCK");
  EXPECT_EQ(expansion_code("//@ k<<<1, 0>>>(c)"), "E_PLAN_BLOCK");
  EXPECT_EQ(expansion_code("//@ k<<<-1, 32>>>(c)"), "E_PLAN_GRID");
  EXPECT_EQ(expansion_code("//@ k<<<1, 32, -4>>>(c)"), "E_PLAN_SHARED");
  EXPECT_EQ(expansion_code("//@ scratch f32 p[m - 5]\n//@ k<<<1, 32>>>(c)"), "E_PLAN_SCRATCH");
  EXPECT_EQ(expansion_code("//@ for (i = 0; i < 9; i += m - 4) k<<<1, 32>>>(c)"), "E_PLAN_LOOP");
  EXPECT_EQ(expansion_code("//@ k<<<ceildif(m, 4), 32>>>(c)"), "E_PLAN_FUNCTION");
  EXPECT_EQ(expansion_code("//@ k<<<occupancy(j), 32>>>(c)"), "E_PLAN_OCCUPANCY");
  EXPECT_EQ(expansion_code("//@ k<<<clamp(m, 5, 2), 32>>>(c)"), "E_PLAN_DOMAIN");
}

TEST(Plan, AProblemWithoutAValueIsSaid) {
  const Submission submission = parsed("//@ k<<<1, 32>>>(c)");
  for (const auto& forget :
       {+[](Binding& b) { b.dims.erase("n"); }, +[](Binding& b) { b.scalars.erase("alpha"); }}) {
    Binding binding = values(4, 6);
    forget(binding);
    const auto result = expand(submission, gemm(), binding);
    ASSERT_TRUE(std::holds_alternative<PlanError>(result));
    EXPECT_EQ(std::get<PlanError>(result).code, "E_PLAN_BINDING");
  }
}

TEST(Plan, ScopesEndWithTheirBlock) {
  EXPECT_EQ(expansion_code("//@ if (1) { let x = 2; k<<<x, 1>>>(c) } else { let x = 3; k<<<x, "
                           "1>>>(c) }\n//@ let x = 4\n"),
            "accepted");
  EXPECT_EQ(
      expansion_code(
          "//@ for (i = 0; i < 2; ++i) { let x = i; k<<<1, 1>>>(c, x) }\n//@ k<<<1, 1>>>(c, i)"),
      "E_PLAN_UNKNOWN_TENSOR");
}

TEST(Plan, OccupancyAsksForTheKernelsOwnBlock) {
  Binding binding = values(4, 6);
  std::string asked;
  binding.occupancy = [&](const std::string& kernel, std::int64_t threads, std::int64_t shared) {
    asked = kernel + " " + std::to_string(threads) + " " + std::to_string(shared);
    return 3;
  };
  const Expansion e = expanded("//@ k<2><<<sm_count*occupancy(k<2>), (32, 4), 100>>>(c)", binding);
  EXPECT_EQ(asked, "k<2> 128 100");
  EXPECT_EQ(std::get<Launch>(e.steps.at(0)).grid[0], 12);
}

TEST(Plan, MessagesShowLineAndCaret) {
  const std::string source = "int x;\n\t//@ k<<<1, 1>>(c)\n";
  EXPECT_EQ(refused(source).text(source),
            "mine.cu:2:7: '<<<' is not closed by '>>>'\n\t//@ k<<<1, 1>>(c)\n\t     ^");
  const std::string wide = "//@ k<<<1, 1>>>(" + std::string(400, ' ') + "?)\n";
  EXPECT_LT(refused(wide).text(wide).size(), 400U);
}

std::vector<std::vector<std::byte>> bound(const std::string& source, const std::string& lowered) {
  const Expansion e = expanded(source, values(4, 6));
  auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                               parameters_of(lowered).value(),
                               gemm(),
                               e,
                               [](const BufferRef& ref) {
                                 return 1000 * (ref.buffer + 1) +
                                        static_cast<std::uint64_t>(ref.offset_bytes);
                               });
  if (auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->text(source);
    return {};
  }
  return std::get<0>(std::move(result));
}

PlanError unbound(const std::string& source, const std::string& lowered) {
  const Expansion e = expanded(source, values(4, 6));
  auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                               parameters_of(lowered).value(),
                               gemm(),
                               e,
                               [](const BufferRef&) { return std::uint64_t{0}; });
  const auto* error = std::get_if<PlanError>(&result);
  return error == nullptr ? PlanError{} : *error;
}

template <typename T>
T value(const std::vector<std::byte>& bytes) {
  T out{};
  EXPECT_EQ(bytes.size(), sizeof out);
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
  return out;
}

TEST(Parameters, ComeFromMangledNames) {
  const auto p = parameters_of("_Z4gemmILi64ELi64EEvPKfS1_Pfijbdx").value();
  ASSERT_EQ(p.size(), 8U);
  EXPECT_EQ(p[0].text, "const float*");
  EXPECT_TRUE(p[1].points_to_const);
  EXPECT_FALSE(p[2].points_to_const);
  EXPECT_EQ(p[3].text, "int");
  EXPECT_FALSE(p[4].is_signed);
  EXPECT_EQ(p[5].bytes, 1U);
  EXPECT_EQ(p[6].kind, Parameter::Kind::real);
  EXPECT_EQ(p[7].bytes, 8U);
  EXPECT_TRUE(parameters_of("_Z4nonev").value().empty());
  EXPECT_EQ(parameters_of("_Z1k6__halfPK6__half").value()[1].text, "const __half*");
  EXPECT_EQ(parameters_of("_Z1k6Policy").value()[0].kind, Parameter::Kind::opaque);
  EXPECT_FALSE(parameters_of("gemm").has_value());
  EXPECT_FALSE(parameters_of("_Z").has_value());
  EXPECT_FALSE(parameters_of("_Z1k" + std::string(100, 'S')).has_value());
}

TEST(Arguments, TakeTheWidthOfTheParameter) {
  const auto bytes =
      bound("//@ k<<<1, 32>>>(offset(a, 2), c, m, m, alpha, 3, alpha, ids)", "_Z1kPKfPfixfdfPKv");
  ASSERT_EQ(bytes.size(), 8U);
  EXPECT_EQ(value<std::uint64_t>(bytes[0]), 1008U);
  EXPECT_EQ(value<std::uint64_t>(bytes[1]), 3000U);
  EXPECT_EQ(value<int>(bytes[2]), 4);
  EXPECT_EQ(value<long long>(bytes[3]), 4);
  EXPECT_EQ(value<float>(bytes[4]), 0.25F);
  EXPECT_EQ(value<double>(bytes[5]), 3.0);
  EXPECT_EQ(value<signed char>(bound("//@ k<<<1, 32>>>(-1)", "_Z1ka")[0]), -1);
}

TEST(Arguments, AreRefusedWithBothSidesNamed) {
  PlanError e = unbound("//@ k<<<1, 32>>>(a, c)", "_Z1kPKfPfi");
  EXPECT_EQ(e.code, "E_PLAN_ARGUMENT_COUNT");
  EXPECT_THAT(e.text(""), HasSubstr("k takes 3 arguments, plan passes 2; missing the last, 'int'"));
  e = unbound("//@ k<<<1, 32>>>(a)", "_Z1kPf");
  EXPECT_EQ(e.code, "E_PLAN_ARGUMENT_CONST");
  EXPECT_EQ(e.column, 18);
  EXPECT_THAT(e.what, HasSubstr("argument 1 'a' is a read-only input, the kernel wants 'float*'"));
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(ids)", "_Z1kPKf").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(m)", "_Z1kPKf").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(a)", "_Z1ki").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(alpha)", "_Z1ki").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1)", "_Z1k6Policy").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1 << 31)", "_Z1ki").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(-1)", "_Z1kj").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(2)", "_Z1kb").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1 << 25)", "_Z1kf").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1e39)", "_Z1kf").code, "E_PLAN_ARGUMENT_RANGE");
}

TEST(Arguments, BindByOwnTypeWhereTheKernelHidesIts) {
  const Expansion e = expanded("//@ k<<<1, 32>>>(a, m, alpha, m, alpha)", values(4, 6));
  const auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                                     opaque_parameters({8, 4, 4, 8, 8}),
                                     gemm(),
                                     e,
                                     [](const BufferRef&) { return std::uint64_t{77}; });
  const auto& bytes = std::get<0>(result);
  EXPECT_EQ(value<std::uint64_t>(bytes[0]), 77U);
  EXPECT_EQ(value<int>(bytes[1]), 4);
  EXPECT_EQ(value<float>(bytes[2]), 0.25F);
  EXPECT_EQ(value<long long>(bytes[3]), 4);
  EXPECT_EQ(value<double>(bytes[4]), 0.25);
}

// Random edits of valid plans: parsing and expanding end without a crash, and whatever is wrong has
// a code and a place.
TEST(Plan, SurvivesMutations) {
  const std::string valid =
      "//@ problem level1/3\n//@ const T = 16, V = T/4\n//@ let s = clamp(2*sm_count / ceildiv(m, "
      "T), 1, 8), p = s > 1 ? c : c\n"
      "//@ scratch f32 t[s, m, n]\n//@ let src = t, dst = c\n//@ zero(t)\n"
      "//@ gemm<T, float><<<(ceildiv(n, T), m), dim3(T, V), T*sizeof(f32)>>>(a, offset(t, s), ids, "
      "m, n, alpha)\n"
      "//@ for (i = 0; i < s; ++i) { swap(src, dst); step<<<m, 32>>>(src, dst, i) }\n"
      "/*@ if (s > 1 && m != 3) add<<<1, 32>>>(t, c); else copy(c, a)\n*/\n";
  const std::vector<std::string> pieces{
      "(",  ")",   "{",   "}",  "<<<",  ">>>", "<",    ">",    ",",           ";",
      "\n", "//@", "for", "if", "else", "let", "swap", "m",    "99999999999", "1<<62",
      "*",  "/",   "-",   "0",  "?",    ":",   "\"",   "\x01", "/*@",         "*/"};
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = valid;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 6);
          break;
        case 1:
          text.insert(at, pieces[random() % pieces.size()]);
          break;
        default:
          text[at] = static_cast<char>(random() % 256);
      }
    }
    auto result = parse("mine.cu", text);
    if (const auto* error = std::get_if<PlanError>(&result)) {
      EXPECT_TRUE(error->code.starts_with("E_PLAN_")) << error->code;
      EXPECT_FALSE(error->text(text).empty());
      continue;
    }
    auto run = expand(std::get<Submission>(result), gemm(), values(5, 7), 256);
    if (const auto* error = std::get_if<PlanError>(&run)) {
      EXPECT_TRUE(error->code.starts_with("E_PLAN_")) << error->code;
    } else {
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 50);
}

TEST(Plan, HostilePlansEndQuickly) {
  std::string nested = "//@ ";
  for (int i = 0; i < 70; ++i) {
    nested += "if (1) ";
  }
  EXPECT_EQ(refused(nested + "k<<<1, 1>>>(c)").code, "E_PLAN_DEPTH");
  EXPECT_EQ(refused("//@ k<<<" + std::string(300, '(') + "1").code, "E_PLAN_DEPTH");
  std::string loops = "//@ ";
  for (int i = 0; i < 40; ++i) {
    const std::string name = "loop" + std::to_string(i);
    loops += "for (" + name + " = 0; " + name + " < 1000; ++" + name + ") ";
  }
  EXPECT_EQ(expansion_code(loops + "if (0) k<<<1, 1>>>(c)"), "E_PLAN_TOO_LONG");
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += "//@ k<<<1, 1>>>(c)\n";
  }
  EXPECT_EQ(refused(many).code, "E_PLAN_LIMIT");
}

}  // namespace
}  // namespace sweep::submission
