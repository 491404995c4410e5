#include "cli/eval_view.h"

#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

evaluate::Evaluation with_plan_error() {
  const submission::PlanError error{
      "E_PLAN_UNKNOWN_NAME", "k.cu", 1, 5, "unknown name 'rowz'", "did you mean 'rows'?"};
  evaluate::Evaluation e;
  e.problem = "level1/3";
  e.file = "k.cu";
  e.verdict = evaluate::Verdict::plan_error;
  e.screen.emplace();
  e.screen->errors = {error};
  e.headline = error.text("//@ k<<<rowz, 1>>>()\n");
  e.next = "correct the plan";
  e.reproduce = "sweep eval k.cu";
  return e;
}

TEST(EvalText, APlanErrorIsSaidOnceWithItsLineACaretAndWhatToDo) {
  const std::string text = eval_text(with_plan_error(), Style::plain());
  EXPECT_EQ(count(text, "unknown name 'rowz'"), 1U) << text;
  EXPECT_THAT(text, HasSubstr("  //@ k<<<rowz, 1>>>()\n      ^\n"));
  EXPECT_THAT(text, HasSubstr("next    correct the plan"));
  EXPECT_EQ(count(text, "sweep eval k.cu"), 1U) << text;
}

TEST(EvalText, FurtherPlanErrorsFollow) {
  evaluate::Evaluation e = with_plan_error();
  e.screen->errors.push_back({"E_PLAN_SCRATCH", "k.cu", 0, 0, "too much scratch", "use less"});
  const std::string text = eval_text(e, Style::plain());
  EXPECT_THAT(text, HasSubstr("k.cu: too much scratch; use less\n"));
  EXPECT_EQ(count(text, "^"), 1U);
}

TEST(EvalText, VirtualRanksAreExplained) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::pass_inconclusive;
  EXPECT_THAT(eval_text(e, Style::plain()), Not(HasSubstr("virtual ranks")));
  e.flags = {"virtual ranks"};
  EXPECT_THAT(eval_text(e, Style::plain()), HasSubstr("this one device played every rank"));
}

TEST(EvalText, InfrastructureIsSaidOnce) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::infra_judge;
  e.infra = "judge: died; try again";
  e.headline = e.infra;
  EXPECT_EQ(count(eval_text(e, Style::plain()), "judge: died"), 1U);
}

TEST(EvalText, AFailureIsSaidOnceAndKeepsToTheWidth) {
  evaluate::Evaluation e;
  e.problem = "level1/3";
  e.title = "t";
  e.verdict = evaluate::Verdict::incorrect_value;
  e.check.emplace();
  e.check->failure.emplace();
  e.check->failure->text =
      "y[0, 0]: expected 0.422175839, got -0.259932458 (allowed difference 5.04e-06); 65 of 65 "
      "elements wrong; pattern: all";
  e.headline = e.check->failure->text;
  const std::string text = eval_text(e, Style::plain(), 60);
  EXPECT_EQ(count(text, "expected 0.422175839"), 1U) << text;
  for (const std::string_view line : util::split(text, '\n')) {
    EXPECT_LE(line.size(), 60U) << line;
  }
}

evaluate::Call failing_call(evaluate::Failure failure) {
  evaluate::Call call;
  call.shape = "tiny";
  call.dims = {{"points", 97}};
  call.content = "ties";
  call.failure = std::move(failure);
  return call;
}

TEST(EvalText, AStressFailureNamesItsShapeAndHowToSeeItAgain) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::incorrect_generalisation;
  e.reproduce = "sweep eval k.cu --device cpu --seed 1";
  e.stress.emplace();
  evaluate::Failure failure;
  failure.text = "y[1]: expected 1, got 2";
  e.stress->inner = evaluate::Hidden(std::optional(failure));
  e.stress->calls = evaluate::Hidden(std::vector{evaluate::Call{}, failing_call(failure)});
  const std::string text = eval_text(e, Style::plain());
  EXPECT_THAT(text, HasSubstr("tiny (points=97), content ties"));
  EXPECT_THAT(text, HasSubstr("sweep eval k.cu --device cpu --seed 1 --only stress\n"));
}

TEST(EvalText, ACallThatProducedNothingHasNoErrorShare) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::incorrect_out_of_bounds;
  e.check.emplace();
  e.check->failure.emplace();
  e.check->failure->text = "SIGSEGV";
  e.check->calls = {failing_call(*e.check->failure)};
  const std::string text = eval_text(e, Style::plain());
  EXPECT_THAT(text, HasSubstr("call 1, shape tiny (points=97), content ties\n"));
  EXPECT_THAT(text, Not(HasSubstr("worst error")));
}

TEST(EvalText, ACorrectKernelThatWasNotTimedSaysSoInItsVerdictLine) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::pass_inconclusive;
  e.check.emplace();
  e.headline = "correct, not timed";
  EXPECT_THAT(verdict_line(e, Style::plain()), HasSubstr("PASS_INCONCLUSIVE   correct, not timed"));
  EXPECT_EQ(count(eval_text(e, Style::plain()), "correct, not timed"), 1U);
}

TEST(EvalText, NamesTheKernelThatItWasTimedAgainst) {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::pass_inconclusive;
  e.file = "new.cu";
  e.versus = "old.cu";
  e.time.emplace();
  e.time->uneven = true;
  e.time->shapes = {{"tiny", {}, 1e-5, 1e-5, {}, true, 0}};
  const std::string text = eval_text(e, Style::plain());
  EXPECT_THAT(text, HasSubstr("new.cu against old.cu"));
  EXPECT_THAT(text, HasSubstr("other"));
  EXPECT_THAT(text, HasSubstr("ratio of means"));
}

TEST(EvalText, AnUnknownProblemLeavesNoEmptyTitle) {
  evaluate::Evaluation e = with_plan_error();
  e.problem.clear();
  EXPECT_THAT(eval_text(e, Style::plain()), ::testing::StartsWith(" k.cu"));
}

TEST(EvalText, HostileTextCannotSteerTheTerminal) {
  evaluate::Evaluation e = with_plan_error();
  e.headline = "k.cu: \x1b[2Jgone";
  EXPECT_THAT(eval_text(e, Style::plain()), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace sweep::cli
