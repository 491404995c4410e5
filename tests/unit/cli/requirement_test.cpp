#include "cli/requirement.h"

#include "cli/command.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::cli {
namespace {

using evaluate::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

evaluate::Evaluation timed_evaluation(Verdict verdict, evaluate::Interval ratio) {
  evaluate::Evaluation e;
  e.verdict = verdict;
  e.device = "cuda:0";
  e.check.emplace();
  e.time.emplace();
  e.time->ratio = ratio;
  e.time->shapes = {{"tiny", {}, 1e-5, 1e-5, ratio}};
  return e;
}

std::optional<bool> met(const std::string& requirement, const evaluate::Evaluation& e) {
  return examine(parse_requirement(requirement), e).met;
}

std::string refusal_of(const std::string& requirement) {
  try {
    (void)parse_requirement(requirement);
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_EVAL_REQUIRE");
    return error.what();
  }
  return "taken";
}

TEST(Requirement, WordsAndSpeedupsAreRead) {
  EXPECT_EQ(parse_requirement("correct").kind, Requirement::Kind::correct);
  EXPECT_EQ(parse_requirement("not-slower").kind, Requirement::Kind::not_slower);
  EXPECT_EQ(parse_requirement(" faster ").kind, Requirement::Kind::faster);
  for (const char* text : {"speedup>=1.25", " speedup >= 1.25 ", "speedup>=125e-2"}) {
    const Requirement made = parse_requirement(text);
    EXPECT_EQ(made.kind, Requirement::Kind::speedup) << text;
    EXPECT_DOUBLE_EQ(made.least, 1.25) << text;
    EXPECT_EQ(made.text, text);
  }
}

TEST(Requirement, WhatIsMalformedIsNamedWithItsColumn) {
  EXPECT_THAT(refusal_of("speedup>=fast"), HasSubstr("column 10: a number must stand here"));
  EXPECT_THAT(refusal_of("speedup>="), HasSubstr("column 10: a number must stand here"));
  EXPECT_THAT(refusal_of("speedup>=1.2x"), HasSubstr("column 13: 'x' behind the number"));
  EXPECT_THAT(refusal_of("speedup>1.2"), HasSubstr("column 8: 'speedup' is followed by >="));
  EXPECT_THAT(refusal_of("speedup"), HasSubstr("column 8: 'speedup' is followed by >="));
  EXPECT_THAT(refusal_of("speedup<=2"), HasSubstr("column 8:"));
  EXPECT_THAT(refusal_of("fastr"), HasSubstr("unknown word 'fastr'; did you mean 'faster'?"));
  EXPECT_THAT(refusal_of("faster>=2"), HasSubstr("column 7: 'faster' stands alone"));
  EXPECT_THAT(refusal_of(""), HasSubstr("column 1: a word must stand here"));
  EXPECT_THAT(refusal_of("  "), HasSubstr("a word must stand here"));
  for (const char* number : {"0", "-1", "nan", "inf", "1e999", "0x2", "1.2 3"}) {
    EXPECT_NE(refusal_of(std::string("speedup>=") + number), "taken") << number;
  }
}

TEST(Requirement, AHostileTextCannotSteerTheTerminal) {
  EXPECT_THAT(refusal_of("\x1b[2J"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(refusal_of("speedup>=1\x1b[2J"), Not(HasSubstr("\x1b")));
}

TEST(Requirement, ASpeedupNeedsTheLowerEndOfTheInterval) {
  const auto e = timed_evaluation(Verdict::pass_faster, {1.2, 1.3, 1.4});
  EXPECT_EQ(met("speedup>=1.2", e), true);
  EXPECT_EQ(met("speedup>=1.2001", e), false);
  EXPECT_EQ(met("speedup>=1.3", e), false);
  EXPECT_THAT(examine(parse_requirement("speedup>=1.3"), e).found,
              HasSubstr("PASS_FASTER 1.30x [1.20, 1.40]: the interval begins at 1.2000"));
}

TEST(Requirement, OnlyAConclusiveVerdictSaysAnythingAboutSpeed) {
  const evaluate::Interval wide{1.5, 1.6, 1.7};
  for (const Verdict verdict : {Verdict::pass_inconclusive, Verdict::unstable}) {
    const auto e = timed_evaluation(verdict, wide);
    EXPECT_EQ(met("correct", e), true);
    EXPECT_EQ(met("not-slower", e), false);
    EXPECT_EQ(met("faster", e), false);
    EXPECT_EQ(met("speedup>=0.5", e), false);
  }
}

TEST(Requirement, TheVerdictDecidesFasterAndNotSlower) {
  const auto faster = timed_evaluation(Verdict::pass_faster, {1.2, 1.3, 1.4});
  const auto equal = timed_evaluation(Verdict::pass_equivalent, {0.995, 1, 1.005});
  const auto slower = timed_evaluation(Verdict::pass_slower, {0.7, 0.8, 0.9});
  EXPECT_EQ(met("faster", faster), true);
  EXPECT_EQ(met("faster", equal), false);
  EXPECT_EQ(met("not-slower", faster), true);
  EXPECT_EQ(met("not-slower", equal), true);
  EXPECT_EQ(met("not-slower", slower), false);
  EXPECT_EQ(met("speedup>=0.7", slower), true);
  EXPECT_EQ(met("correct", slower), true);
}

TEST(Requirement, TheReasonNamesWhyASpeedCannotBeSaid) {
  auto cpu = timed_evaluation(Verdict::pass_inconclusive, {1.5, 1.6, 1.7});
  cpu.device = "cpu";
  EXPECT_THAT(examine(parse_requirement("faster"), cpu).found,
              HasSubstr(": a timing of the cpu device decides nothing about speed, require "
                        "'correct' there"));
  EXPECT_EQ(met("correct", cpu), true);
  cpu.verdict = Verdict::pass_slower;
  EXPECT_THAT(examine(parse_requirement("not-slower"), cpu).found,
              HasSubstr("slower beyond doubt and margin; a timing of the cpu device"));
  auto quick = timed_evaluation(Verdict::pass_inconclusive, {1.5, 1.6, 1.7});
  quick.depth = evaluate::Depth::fast;
  EXPECT_THAT(examine(parse_requirement("faster"), quick).found,
              HasSubstr("--fast never says FASTER"));
  evaluate::Evaluation untimed;
  untimed.verdict = Verdict::pass_inconclusive;
  untimed.check.emplace();
  EXPECT_THAT(examine(parse_requirement("speedup>=1"), untimed).found,
              HasSubstr("it was not timed"));
}

TEST(Requirement, HeldOutShapesDecideWhereTheyDidForTheVerdict) {
  auto e = timed_evaluation(Verdict::pass_slower, {1.5, 1.6, 1.7});
  evaluate::TimeResult hidden;
  hidden.decision = Verdict::pass_slower;
  hidden.ratio = {0.7, 0.8, 0.9};
  e.heldout.emplace();
  e.heldout->time = evaluate::Hidden(std::optional(hidden));
  EXPECT_EQ(met("speedup>=1.5", e), false);
  EXPECT_EQ(met("speedup>=0.7", e), true);
}

TEST(Requirement, AWrongKernelMeetsNothingAndALostJudgeSaysNothing) {
  evaluate::Evaluation wrong;
  wrong.verdict = Verdict::incorrect_value;
  EXPECT_EQ(met("correct", wrong), false);
  EXPECT_EQ(met("speedup>=0.1", wrong), false);
  evaluate::Evaluation lost;
  lost.verdict = Verdict::infra_judge;
  EXPECT_EQ(met("correct", lost), std::nullopt);
  evaluate::Evaluation compiled;
  compiled.verdict = Verdict::pass_inconclusive;
  EXPECT_EQ(met("correct", compiled), false);
}

TEST(Requirement, ExitCodesTellAWrongKernelFromOneThatIsTooSlow) {
  const auto code = [](const evaluate::Evaluation& e, std::vector<std::string> texts) {
    std::vector<Requirement> required;
    for (const std::string& text : texts) {
      required.push_back(parse_requirement(text));
    }
    return eval_exit_code(e, examine_all(required, e));
  };
  const auto e = timed_evaluation(Verdict::pass_faster, {1.2, 1.3, 1.4});
  EXPECT_EQ(code(e, {}), kDone);
  EXPECT_EQ(code(e, {"correct", "faster", "speedup>=1.2"}), kDone);
  EXPECT_EQ(code(e, {"faster", "speedup>=1.5"}), kNotMet);
  auto other = e;
  other.verdict = Verdict::incorrect_value;
  EXPECT_EQ(code(other, {"speedup>=1.5"}), kNotCorrect);
  other.verdict = Verdict::infra_lost;
  EXPECT_EQ(code(other, {"correct"}), kInfra);
}

TEST(Requirement, WhatAStageNeverFindsOutIsRefused) {
  using evaluate::Stage;
  const Requirement correct = parse_requirement("correct");
  const Requirement speed = parse_requirement("speedup>=1");
  EXPECT_NO_THROW(require_decidable(correct, std::nullopt));
  EXPECT_NO_THROW(require_decidable(correct, Stage::check));
  EXPECT_NO_THROW(require_decidable(speed, std::nullopt));
  EXPECT_NO_THROW(require_decidable(speed, Stage::time));
  EXPECT_THROW(require_decidable(correct, Stage::screen), util::UsageError);
  EXPECT_THROW(require_decidable(correct, Stage::compile), util::UsageError);
  for (const Stage stage : {Stage::compile, Stage::check, Stage::stress, Stage::heldout}) {
    EXPECT_THROW(require_decidable(speed, stage), util::UsageError);
  }
}

TEST(Requirement, IsSaidInOneLineAndInJson) {
  const auto e = timed_evaluation(Verdict::pass_equivalent, {0.995, 1, 1.005});
  const auto results = examine_all({parse_requirement("correct"), parse_requirement("faster")}, e);
  EXPECT_EQ(requirements_text(results, Style::plain()),
            " required correct: met; found PASS_EQUIVALENT 1.00x [0.995, 1.00]\n"
            " required faster: not met; found PASS_EQUIVALENT 1.00x [0.995, 1.00]: not faster "
            "beyond doubt and margin\n");
  const nlohmann::json json = to_json(results);
  EXPECT_EQ(json.at(0).at("met"), true);
  EXPECT_EQ(json.at(1).at("requirement"), "faster");
  EXPECT_EQ(json.at(1).at("met"), false);
}

}  // namespace
}  // namespace sweep::cli
