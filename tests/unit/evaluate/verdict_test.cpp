#include "evaluate/verdict.h"

#include <gtest/gtest.h>

#include <set>

namespace sweep::evaluate {
namespace {

constexpr int kVerdicts = static_cast<int>(Verdict::infra_lost) + 1;
constexpr int kOutcomes = static_cast<int>(Outcome::infra_error) + 1;

TEST(Verdict, EveryOneHasItsOwnNameAMeaningAndAnOutcome) {
  std::set<std::string_view> names;
  for (int i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_TRUE(names.insert(name(verdict)).second) << name(verdict);
    EXPECT_FALSE(meaning(verdict).empty());
    EXPECT_NO_THROW((void)outcome_of(verdict));
    EXPECT_EQ(parse_verdict(name(verdict)), verdict);
  }
  EXPECT_EQ(parse_verdict("PASS"), std::nullopt);
  EXPECT_EQ(parse_verdict(""), std::nullopt);
}

TEST(Verdict, NamesOfOutcomesDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) {
    EXPECT_TRUE(names.insert(name(static_cast<Outcome>(i))).second);
  }
}

TEST(Verdict, OutcomesFollowFromTheFamily) {
  for (int i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::string_view text = name(verdict);
    if (text.starts_with("PASS_") || text == "UNSTABLE") {
      EXPECT_EQ(outcome_of(verdict), Outcome::correct) << text;
    } else if (text.starts_with("INCORRECT_")) {
      EXPECT_EQ(outcome_of(verdict), Outcome::incorrect) << text;
    } else if (text.starts_with("REJECTED_") || text == "REVIEW") {
      EXPECT_EQ(outcome_of(verdict), Outcome::rejected) << text;
    } else if (text.starts_with("INFRA_")) {
      EXPECT_EQ(outcome_of(verdict), Outcome::infra_error) << text;
    } else if (text == "PLAN_ERROR" || text == "COMPILE_ERROR") {
      EXPECT_EQ(outcome_of(verdict), Outcome::compile_fail) << text;
    } else if (text == "TIMEOUT") {
      EXPECT_EQ(outcome_of(verdict), Outcome::timeout);
    } else {
      EXPECT_EQ(outcome_of(verdict), Outcome::error) << text;
    }
  }
}

}  // namespace
}  // namespace sweep::evaluate
