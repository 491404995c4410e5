#include "queue/summary.h"

#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::queue {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Final example() {
  Final final;
  final.rows = {
      {"sci/heat2d", "demo-fixer", "correct", "PASS_INCONCLUSIVE", record::Interval{2, 1, 3}, ""},
      {"sci/heat2d",
       "demo-hardcoder",
       "incorrect",
       "INCORRECT_GENERALISATION",
       {},
       "correct on the visible shapes, wrong on one that was not shown"},
      {"level1/3",
       "demo-flaky",
       "compile_fail",
       "PLAN_ERROR",
       {},
       "k.cu:2:5: unknown name; see\n//@ k\n    ^"},
      {"level1/3", "demo-wrong", "", "", {}, ""}};
  final.outcomes = {{"correct", 1}};
  return final;
}

std::string text(std::size_t width) {
  return final_text(example(), record::RunDir("runs/r"), 4, "x.toml", width);
}

TEST(FinalText, KeepsToTheTerminal) {
  for (const std::size_t width : {80U, 120U, 200U}) {
    const std::string all = text(width);
    for (const std::string_view line : util::split(all, '\n')) {
      EXPECT_LE(line.size(), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_THAT(all, HasSubstr("INCORRECT_GENERALISATION"));
    EXPECT_THAT(all, HasSubstr("not begun"));
    EXPECT_THAT(all, HasSubstr("unknown name"));
    EXPECT_THAT(all, Not(HasSubstr("//@ k")));
  }
}

TEST(FinalText, IsWholeInAFile) {
  EXPECT_THAT(text(0), HasSubstr("wrong on one that was not shown\n"));
  EXPECT_THAT(text(0), HasSubstr("compile_fail  PLAN_ERROR"));
}

TEST(FinalText, ANarrowTerminalGetsTheVerdictAlone) {
  EXPECT_THAT(text(80), Not(HasSubstr("incorrect  INCORRECT")));
  EXPECT_THAT(text(80), HasSubstr("demo-hardcoder  INCORRECT_GENERALISATION\n    correct on the"));
  EXPECT_THAT(text(120), HasSubstr("incorrect     INCORRECT_GENERALISATION"));
}

TEST(FinalText, WhatIsScriptedIsNotCalledACost) {
  Final final = example();
  final.cost_usd = 0.0123;
  const auto said = [&] { return final_text(final, record::RunDir("runs/r"), 4, "x.toml", 0); };
  EXPECT_THAT(said(), HasSubstr("tokens   $0.0123\n"));
  final.scripted = true;
  EXPECT_THAT(said(),
              HasSubstr("tokens   $0.0123 at example prices: scripted, nothing is charged\n"));
  final.cost_usd = 0;
  EXPECT_THAT(said(), HasSubstr("tokens   scripted, nothing is charged\n"));
}

TEST(CostLine, SaysWhichItemsAreNotCharged) {
  config::CostPreview cost;
  cost.items = 4;
  cost.usd = 1.5;
  EXPECT_THAT(cost_line(cost), ::testing::EndsWith("out, at most $1.50"));
  cost.scripted = 3;
  EXPECT_THAT(cost_line(cost),
              ::testing::EndsWith("at most $1.50; 3 of them scripted, nothing is charged"));
  cost.scripted = 4;
  EXPECT_THAT(cost_line(cost),
              ::testing::EndsWith("at most $1.50 at example prices: scripted, nothing is charged"));
}

}  // namespace
}  // namespace sweep::queue
