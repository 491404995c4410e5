#include "evaluate/admission/admission.h"

#include "evaluate/admission/drawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>

namespace sweep::evaluate::admission {
namespace {

using ::testing::HasSubstr;

TEST(AdmissionRules, AreFoundByNameAndNumber) {
  EXPECT_EQ(rules().size(), 7U);
  EXPECT_EQ(parse_rule("null"), Rule::nulls);
  EXPECT_EQ(parse_rule("2"), Rule::nulls);
  EXPECT_EQ(parse_rule("draws"), parse_rule("7"));
  EXPECT_FALSE(parse_rule("8"));
  EXPECT_FALSE(parse_rule(""));
}

TEST(AdmissionRules, NoRuleNamedMeansAll) {
  Options options;
  EXPECT_TRUE(options.wants(Rule::work));
  options.rules = {Rule::golden};
  EXPECT_TRUE(options.wants(Rule::golden));
  EXPECT_FALSE(options.wants(Rule::work));
}

TEST(AdmissionRules, AResultKeepsTwentyFailures) {
  RuleResult result;
  for (int i = 0; i < 30; ++i) {
    result.fail(std::to_string(i));
  }
  EXPECT_EQ(result.state, State::fails);
  EXPECT_EQ(result.failures.size(), 20U);
}

TEST(AdmissionRules, ResultsAndOptionsTravel) {
  RuleResult result;
  result.rule = Rule::precision;
  result.worst = "w";
  result.next = "n";
  result.numbers = {{"least", std::numeric_limits<double>::infinity()}};
  result.seconds = 1.5;
  result.fail("f");
  EXPECT_EQ(to_json(rule_result_from_json(to_json(result))), to_json(result));
  Options options;
  options.rules = {Rule::honest};
  options.draws = 7;
  options.golden = "{}";
  options.narrowed = true;
  EXPECT_EQ(to_json(options_from_json(to_json(options))), to_json(options));
}

TEST(AdmissionRules, ARuleOfAnotherVersionIsAnError) {
  nlohmann::json body = to_json(RuleResult{});
  body["rule"] = "taste";
  EXPECT_ANY_THROW((void)rule_result_from_json(body));
}

TEST(WorkRule, TheSeedLiesBetweenTheFloorAndTwentyTimesTheWork) {
  EXPECT_EQ(work_failure("full", 1e-4, 5e-5, 6e-5, false), "");
  EXPECT_THAT(work_failure("full", 4e-5, 5e-5, 6e-5, false), HasSubstr("less than the floor"));
  EXPECT_THAT(work_failure("full", 1.3e-3, 5e-5, 6e-5, false), HasSubstr("22 times"));
  EXPECT_EQ(work_failure("full", 1.3e-3, 5e-5, 6e-5, true), "");
  EXPECT_THAT(work_failure("full", 4e-5, 5e-5, 6e-5, true), HasSubstr("less than the floor"));
}

}  // namespace
}  // namespace sweep::evaluate::admission
