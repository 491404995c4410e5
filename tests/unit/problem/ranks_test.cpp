#include "problem/ranks.h"

#include "examples.h"
#include "problem/draw.h"
#include "problem/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace sweep::problem {
namespace {

constexpr const char* kRanked = R"TOML(schema = 1
id = "level2/2"
title = "t"
domain = "d"
statement = "s"
[dims]
ranks = "ranks(1, 2, 4)"
n     = "free(1, 4000)"
[inputs]
x = "f32[n, 2] per rank = normal()"
w = "f32[n] = normal()"
[outputs]
y = "f32[n] per rank"
[shapes]
tiny = { ranks = 4, n = 7, use = ["cpu", "golden"] }
full = { ranks = 2, n = 2000 }
[stress]
ranks = "choice(1, 2, 4)"
n = "uniform(1, 9)"
[edges]
list = []
[work]
flops = "n"
reference_ops = "n"
)TOML";

Draw tiny(const Problem& problem) {
  return visible_draw(problem, problem.shapes.front(), "default", Key::from_seed(1));
}

std::string first_code(const std::string& from, const std::string& to) {
  const Loaded loaded = parse(examples::replaced(kRanked, from, to), {{"reference.cu", "x"}});
  return loaded.mistakes.empty() ? "" : loaded.mistakes.front().code;
}

TEST(RankedProblem, StacksWhatIsPerRank) {
  const Problem p = examples::problem(kRanked);
  EXPECT_TRUE(ranked(p));
  EXPECT_FALSE(ranked(examples::problem(examples::kHmc)));
  const ConcreteTensor x = concrete(p, *p.tensor("x"), tiny(p));
  EXPECT_THAT(x.shape, testing::ElementsAre(7, 2));
  EXPECT_THAT(x.stacked, testing::ElementsAre(4, 7, 2));
  EXPECT_EQ(x.bytes, 4 * 7 * 2 * 4);
  EXPECT_THAT(concrete(p, *p.tensor("w"), tiny(p)).stacked, testing::ElementsAre(7));
}

TEST(RankedProblem, GivesEachRankOtherContents) {
  const Problem p = examples::problem(kRanked);
  const FillPlan plan(p, tiny(p));
  std::set<std::vector<std::byte>> seen;
  constexpr std::int64_t kElements = 14;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    std::vector<std::byte> part(kElements * sizeof(float));
    plan.fill(0, rank * kElements, kElements, part, 1);
    seen.insert(part);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(RankedProblem, DrawsAllowedCountsAndTriesEach) {
  const Problem p = examples::problem(kRanked);
  std::set<std::int64_t> drawn, edges;
  for (const Draw& draw : stress_draws(p, Key::from_seed(1), 0, 60, Machine{})) {
    drawn.insert(draw.dims.at("ranks"));
  }
  for (const Draw& draw : edge_draws(p, Key::from_seed(1), Machine{})) {
    edges.insert(draw.dims.at("ranks"));
  }
  EXPECT_THAT(drawn, testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(edges, testing::ElementsAre(1, 2, 4));
  EXPECT_THROW((void)make_draw(p, "t", {{"ranks", 3}, {"n", 1}}, "default", Key{}),
               util::UsageError);
}

TEST(RankedProblem, RefusesWhatDoesNotFitRanks) {
  EXPECT_EQ(first_code("title", "title"), "");
  EXPECT_EQ(first_code("y = \"f32[n] per rank\"", "y = \"f32[n]\""), "E_PROBLEM_RANKS");
  EXPECT_EQ(first_code("ranks = \"ranks(1, 2, 4)\"", "ranks = \"free(1, 4)\""), "E_PROBLEM_RANKS");
  EXPECT_EQ(first_code("n     = \"free(1, 4000)\"", "n = \"ranks(1, 2)\""), "E_PROBLEM_DIM");
  EXPECT_EQ(first_code("[work]",
                       "[[baseline]]\nname = \"b\"\nlibrary = \"cublas.gemm\"\nargs = { a = \"x\" "
                       "}\n[work]"),
            "E_PROBLEM_RANKS");
  std::string renamed = kRanked;
  for (std::size_t at = 0; (at = renamed.find("ranks = ", at)) != std::string::npos; at += 6) {
    renamed.replace(at, 8, "world = ");
  }
  const Loaded loaded = parse(renamed, {{"reference.cu", "x"}});
  ASSERT_FALSE(loaded.mistakes.empty());
  EXPECT_EQ(loaded.mistakes.front().code, "E_PROBLEM_RANKS");
  EXPECT_THAT(loaded.mistakes.front().text(), testing::HasSubstr("call the dim 'ranks'"));
}

}  // namespace
}  // namespace sweep::problem
