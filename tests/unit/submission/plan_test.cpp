#include "plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sweep::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_LT(refused("//@ " + std::string(100'000, 'x') + "\n" + launch).what.size(), 200U);
  EXPECT_EQ(refused("//@ scrach f32 p[3]\n" + launch).next, "did you mean 'scratch'?");
  EXPECT_EQ(refused("//@ for (i = 0; i < 3; --i) k<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ for (i = 0; 3 > i; ++i) k<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1, 0, stream>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1>>>() j<<<1, 1>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ let s = 1\n//@ k<s><<<1, 1>>>()\n").code, "E_PLAN_NOT_CONST");
  EXPECT_EQ(refused("//@ k<<<1, 010>>>()\n").code, "E_PLAN_NUMBER");
  EXPECT_EQ(refused("//@ prepare { k<<<1, 1>>>() }\n" + launch).code, "E_PLAN_NOT_YET");
  EXPECT_EQ(refused("//@ k<<<1, 1, pdl, pdl>>>()\n").code, "E_PLAN_TWICE");
  EXPECT_EQ(refused("//@ k<<<1, 1, cluster(2), cluster(2)>>>()\n").code, "E_PLAN_TWICE");
  EXPECT_EQ(refused("//@ k<<<1, 1, cluster()>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1, cluster(1, 1, 1, 1)>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ k<<<1, 1, cluster(x=2)>>>()\n").code, "E_PLAN_FUNCTION");
  EXPECT_EQ(refused("//@ k<<<1, 1, pdl, 64>>>()\n").code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = a\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile()\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile(a)\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box())\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box(1, 8), 64)\n" + launch).code, "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box(1), box(2))\n" + launch).code, "E_PLAN_TWICE");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box(1), oob(one))\n" + launch).code,
            "E_PLAN_SYNTAX");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box(1), oob(nan), oob(nan))\n" + launch).code,
            "E_PLAN_TWICE");
  EXPECT_EQ(refused("//@ tensormap t = tile(a, box(1), swizzle(32, 64))\n" + launch).code,
            "E_PLAN_SYNTAX");
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

// Each limit of TMA, at the shape m = 4, n = 6 of f32 c[m, n].
TEST(Plan, RefusesTensorMapsThatTheHardwareCannotUse) {
  const auto code = [](const std::string& map) {
    return expansion_code("//@ tensormap t = tile(" + map + ")\n//@ k<<<1, 32>>>(t)");
  };
  const std::string good = "view(c, [3, 8])";
  EXPECT_EQ(code(good + ", box(3, 8)"), "accepted");
  EXPECT_EQ(code(good + ", box(256, 4), swizzle(32), l2(64), oob(nan), stride(8, 1)"), "accepted");
  EXPECT_EQ(code("view(c, [24]), box(24)"), "accepted");
  EXPECT_EQ(code("view(c, [3, 1, 1, 1, 8]), box(1, 1, 1, 1, 8)"), "accepted");
  EXPECT_EQ(code("ids, box(4)"), "accepted");    // one dim has no stride
  for (const std::string bad : {"c, box(1, 4)",  // rows of 24 bytes
                                "view(c, [3, 1, 1, 1, 1, 8]), box(1, 1, 1, 1, 8)",
                                "view(offset(c, 1), [2, 8]), box(1, 4)",
                                "offset(c, 4), box(1, 4)",
                                "view(c, [3, 8]), box(257, 4)",
                                "view(c, [3, 8]), box(0, 4)",
                                "view(c, [3, 8]), box(1, 3)",
                                "view(c, [3, 8]), box(4)",
                                "view(c, [3, 8]), box(1, 16), swizzle(32)",
                                "view(c, [3, 8]), box(1, 4), swizzle(16)",
                                "view(c, [3, 8]), box(1, 4), l2(32)",
                                "view(c, [3, 8]), box(1, 4), stride(9, 1)",
                                "view(c, [3, 8]), box(1, 4), stride(0, 1)",
                                "view(c, [3, 8]), box(1, 4), stride(1)",
                                "view(c, [3, 8]), box(1, 4), stride(1, 2)",
                                "ids, box(4), oob(nan)"}) {
    EXPECT_EQ(code(bad), "E_PLAN_TENSOR_MAP") << bad;
  }
  EXPECT_EQ(code("view(c, [5, 8]), box(1, 4)"), "E_PLAN_VIEW");
  EXPECT_EQ(code("view(c, [-1, 8]), box(1, 4)"), "E_PLAN_VIEW");
  EXPECT_EQ(code("view(c, 8), box(1, 4)"), "E_PLAN_FUNCTION");
  EXPECT_EQ(code("m, box(1, 4)"), "E_PLAN_TYPE");
  EXPECT_EQ(code("zero, box(1, 4)"), "E_PLAN_UNKNOWN_NAME");
  EXPECT_EQ(expansion_code("//@ zero(view(c, [3, 8]))"), "E_PLAN_TYPE");
  EXPECT_EQ(expansion_code("//@ for (i = 0; i < 70000; ++i) tensormap t = tile(ids, box(4))\n"
                           "//@ k<<<1, 32>>>(c)"),
            "E_PLAN_LIMIT");
}

TEST(Plan, CooperativeGridsMustBeResidentAtOnce) {
  Binding binding = values(4, 6);
  binding.occupancy = [](const std::string&, std::int64_t threads, std::int64_t shared) {
    return threads == 64 && shared == 16 ? 2 : 0;
  };
  const auto outcome = [&](const std::string& grid) {
    auto result =
        expand(parsed("//@ k<<<" + grid + ", 64, 16, cooperative>>>(c)"), gemm(), binding);
    const auto* error = std::get_if<PlanError>(&result);
    return error == nullptr ? "accepted" : error->code + ": " + error->what;
  };
  EXPECT_EQ(outcome("sm_count*occupancy(k)"), "accepted");
  EXPECT_THAT(
      outcome("9"),
      HasSubstr("E_PLAN_COOPERATIVE: k's cooperative grid is (9, 1, 1), but only 8 blocks"));
  EXPECT_THAT(outcome("(3, 3)"), HasSubstr("E_PLAN_COOPERATIVE"));
  EXPECT_THAT(outcome("(1 << 30, 60000, 60000)"), HasSubstr("E_PLAN_COOPERATIVE"));
  binding.exact = false;
  EXPECT_EQ(outcome("9"), "accepted");
}

TEST(Plan, OccupancyCannotDependOnItself) {
  Binding binding = values(4, 6);
  binding.occupancy = [](const std::string&, std::int64_t, std::int64_t) { return 1; };
  const auto code = [&](const std::string& source) {
    auto result = expand(parsed(source), gemm(), binding);
    const auto* error = std::get_if<PlanError>(&result);
    return error == nullptr ? "accepted" : error->code;
  };
  EXPECT_EQ(code("//@ k<<<1, 32*occupancy(k)>>>(c)"), "E_PLAN_OCCUPANCY");
  EXPECT_EQ(code("//@ k<<<1, 32, occupancy(j)>>>(c)\n//@ j<<<1, 32, occupancy(k)>>>(c)"),
            "E_PLAN_OCCUPANCY");
  EXPECT_EQ(code("//@ k<<<1, 32*occupancy(k, 64, 0)>>>(c)"), "accepted");
  EXPECT_EQ(code("//@ k<<<occupancy(j), 32, occupancy(j)>>>(c)\n//@ j<<<1, 32>>>(c)"), "accepted");
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

// Random edits of valid plans: parsing and expanding end without a crash, and whatever is wrong has
// a code and a place.
TEST(Plan, SurvivesMutations) {
  const std::string valid =
      "//@ problem level1/3\n//@ const T = 16, V = T/4\n//@ let s = clamp(2*sm_count / ceildiv(m, "
      "T), 1, 8), p = s > 1 ? c : c\n"
      "//@ scratch f32 t[s, m, n]\n//@ let src = t, dst = c\n//@ zero(t)\n"
      "//@ gemm<T, float><<<(ceildiv(n, T), m), dim3(T, V), T*sizeof(f32)>>>(a, offset(t, s), ids, "
      "m, n, alpha)\n"
      "//@ tensormap map = tile(view(a, [4, 8]), box(2, 8), swizzle(32), l2(64), oob(nan), "
      "stride(2, 1))\n"
      "//@ use<<<(2*m, 4), 32, 64, cluster(2, 4), cooperative, pdl>>>(map, view(t, [m, n]))\n"
      "//@ for (i = 0; i < s; ++i) { swap(src, dst); step<<<m, 32>>>(src, dst, i) }\n"
      "/*@ if (s > 1 && m != 3) add<<<1, 32>>>(t, c); else copy(c, a)\n*/\n";
  const std::vector<std::string> pieces{
      "(",        ")",   "{",           "}",     "<<<",  ">>>", "<",    ">",
      ",",        ";",   "\n",          "//@",   "for",  "if",  "else", "let",
      "swap",     "m",   "99999999999", "1<<62", "*",    "/",   "-",    "0",
      "?",        ":",   "\"",          "\x01",  "/*@",  "*/",  "[",    "]",
      "cluster(", "pdl", "view(",       "tile(", "box(", "map", "a"};
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
