#include "evaluate/defence.h"

#include "evaluate/conclusion.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/judging.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Defences, HaveARowEachInTheOrderOfTheEnum) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < defences().size(); ++i) {
    const DefenceInfo& row = defences()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.defence), i) << row.name;
    EXPECT_EQ(parse_defence(row.name), row.defence);
    EXPECT_FALSE(row.what.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(Defences, OfASetKeepTheirNames) {
  const DefenceSet off = {Defence::stale, Defence::poison};
  EXPECT_THAT(names(off), ElementsAre("poison", "stale"));
  EXPECT_EQ(defences_from(names(off)), off);
}

TEST(Defences, ThatAreUnknownOrFixedCannotBeOff) {
  EXPECT_THROW((void)defences_from({"poisson"}), util::UsageError);
  EXPECT_THROW((void)defences_from({"sandbox"}), util::UsageError);
}

problem::Comparison failing() {
  problem::Comparison found;
  found.count = 100;
  found.bad = 10;
  return found;
}

TEST(CaughtBy, NamesThePlainRuleForWrongElements) {
  EXPECT_EQ(caught_by(failing(), Defence::oracle, {}), Defence::oracle);
  EXPECT_EQ(caught_by(failing(), Defence::timed_compare, {}), Defence::timed_compare);
  EXPECT_EQ(caught_by(failing(), Defence::oracle, {Defence::oracle}), std::nullopt);
}

TEST(CaughtBy, FindsNothingInWhatPasses) {
  problem::Comparison found;
  found.pass = true;
  EXPECT_EQ(caught_by(found, Defence::oracle, {}), std::nullopt);
}

TEST(CaughtBy, LetsNaNPassWithoutFiniteMasks) {
  problem::Comparison found = failing();
  found.nan = 10;
  EXPECT_EQ(caught_by(found, Defence::oracle, {}), Defence::finite_masks);
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::finite_masks}), std::nullopt);
  found.nan = 9;
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::finite_masks}), Defence::oracle);
}

TEST(CaughtBy, SeesUnwrittenElementsWithoutTheOracle) {
  problem::Comparison found = failing();
  found.unwritten = 10;
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::oracle}), Defence::poison);
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::poison}), Defence::oracle);
}

TEST(CaughtBy, SeesRowsByTheirRootMeanSquare) {
  problem::Comparison found = failing();
  found.bad = 0;
  found.bad_rows = 3;
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::oracle}), Defence::rms_rule);
  EXPECT_EQ(caught_by(found, Defence::oracle, {Defence::rms_rule}), std::nullopt);
}

TEST(CaughtBy, NamesTheStageThatWasNotShownFirst) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::incorrect_generalisation;
  evaluation.stress.emplace();
  Failure inner;
  inner.defence = Defence::guard_pages;
  evaluation.stress->inner = Hidden(std::optional(inner));
  EXPECT_THAT(caught_by(evaluation), ElementsAre(Defence::stress, Defence::guard_pages));
  evaluation.stress->passed = true;
  EXPECT_THAT(caught_by(evaluation), IsEmpty());
}

TEST(CaughtBy, TellsTheRefusalsOfTheCompilerApart) {
  const auto of = [](const std::string& status, const std::string& log) {
    Evaluation evaluation;
    evaluation.verdict = Verdict::rejected_forbidden;
    evaluation.compile.emplace();
    evaluation.compile->status = status;
    evaluation.compile->log = log;
    return caught_by(evaluation);
  };
  EXPECT_THAT(of("compile_error", "x.cu(1): error: no\n"), ElementsAre(Defence::compiler_limits));
  EXPECT_THAT(of("forbidden", "forbidden: device malloc; declare `scratch` in the plan\n"),
              ElementsAre(Defence::forbidden_symbols));
  EXPECT_THAT(of("forbidden", "forbidden: 'a' is a writable module variable and would\n"),
              ElementsAre(Defence::module_state));
  EXPECT_THAT(of("forbidden", "forbidden: 'f' is chosen by code at load time\n"),
              ElementsAre(Defence::load_code));
  EXPECT_THAT(of("forbidden", "forbidden: __DATE__, __TIME__ and __TIMESTAMP__ make\n"),
              ElementsAre(Defence::build_time));
}

TEST(Weakened, IsSaidAndNeverFaster) {
  EvaluationRequest request;
  request.off = {Defence::oracle};
  Evaluation result;
  result.verdict = Verdict::pass_faster;
  conclude(request, result);
  EXPECT_EQ(result.verdict, Verdict::pass_inconclusive);
  EXPECT_THAT(result.weakened, ElementsAre("oracle"));
  EXPECT_THAT(result.flags, ::testing::Contains("weakened"));
  const auto json = to_json(result, View::open);
  EXPECT_EQ(json.at("weakened"), nlohmann::json::array({"oracle"}));
  EXPECT_THAT(evaluation_from_json(json).weakened, ElementsAre("oracle"));
}

}  // namespace
}  // namespace sweep::evaluate
