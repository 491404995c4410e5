#include "queue/summary.h"

#include "queue/dollars.h"
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

TEST(FinalText, AReasonStandsBelowItsRowAndBreaksAtWords) {
  EXPECT_THAT(text(200), HasSubstr("INCORRECT_GENERALISATION\n    correct on the visible shapes"));
  Final final = example();
  final.rows[1].reason =
      "a rather long reason that has words up to and beyond the eightieth column "
      "of the terminal";
  const std::string narrow = final_text(final, record::RunDir("runs/r"), 4, "x.toml", 80);
  EXPECT_THAT(narrow, HasSubstr("the eightieth column of\n    the terminal\n"));
}

TEST(FinalText, SaysWhyItStoppedAndWhatGoesOn) {
  Final final = example();
  final.left = 3;
  const auto said = [&](std::size_t width) {
    return final_text(final, record::RunDir("runs/r"), 4, "x.toml", width);
  };
  EXPECT_THAT(said(0),
              HasSubstr("left    3 unfinished or lost to infrastructure; go on with  sweep"));
  final.stopped = {"budget", "the budget of $8 is used up", {}};
  EXPECT_THAT(
      said(0),
      HasSubstr("left    3 not finished: stopped because the budget of $8 is used up; raise "
                "it to go on with  sweep x.toml\n"));
  final.stopped = {"refused", "the first 3 requests to m were all refused (no such model)", {"m"}};
  EXPECT_THAT(said(80), HasSubstr("were all\n        refused (no such model); mend"));
  EXPECT_THAT(said(80), Not(HasSubstr("...")));
  final.cost_usd = 0.0145;
  final.wasted_usd = 0.003;
  final.scripted = true;
  EXPECT_THAT(
      said(0),
      HasSubstr("tokens   $0.0175, of it $0.0030 for lost answers; example prices: scripted, "
                "nothing is charged\n"));
}

TEST(FinalText, NamesTheRunWhereItsNameAloneIsNotEnough) {
  EXPECT_THAT(text(0), Not(HasSubstr("sweep verify")));
  EXPECT_THAT(
      final_text(example(), record::RunDir("/far/runs/r"), 4, "x.toml", 0),
      HasSubstr("run     /far/runs/r   (sweep verify /far/runs/r, sweep replay /far/runs/r)"));
}

TEST(FinalJson, NamesItemsAndWhyItStopped) {
  Final final = example();
  final.rows[0].id = "v/demo-fixer/sci/heat2d";
  final.rows[0].variant = "v";
  final.rows[0].attempt = 2;
  EXPECT_TRUE(to_json(final, record::RunDir("runs/r"), 4).at("stopped").is_null());
  final.stopped = {"refused", "no such model", {"m"}};
  const nlohmann::json json = to_json(final, record::RunDir("runs/r"), 4);
  EXPECT_EQ(json.at("stopped"), nlohmann::json({{"kind", "refused"}, {"text", "no such model"}}));
  EXPECT_EQ(json.at("items").at(0).at("id"), "v/demo-fixer/sci/heat2d");
  EXPECT_EQ(json.at("items").at(0).at("variant"), "v");
  EXPECT_EQ(json.at("items").at(0).at("attempt"), 2);
}

TEST(Dollars, ShowAsManyDigitsAsCount) {
  EXPECT_EQ(dollars(0), "$0.00");
  EXPECT_EQ(dollars(12.5), "$12.50");
  EXPECT_EQ(dollars(0.1), "$0.10");
  EXPECT_EQ(dollars(0.012), "$0.012");
  EXPECT_EQ(dollars(0.0005), "$0.00050");
  EXPECT_EQ(dollars(1e-9), "$0.000000001");
  EXPECT_EQ(dollars(1e-12), "$0.00");
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
