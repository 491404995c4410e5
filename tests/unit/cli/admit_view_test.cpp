#include "cli/admit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using evaluate::admission::Rule;
using evaluate::admission::RuleResult;
using ::testing::HasSubstr;
using ::testing::Not;

admit::Admission examined() {
  admit::Admission made;
  made.problem = "level1/3";
  for (const auto& info : evaluate::admission::rules()) {
    RuleResult rule;
    rule.rule = info.rule;
    rule.worst = "worst of " + std::string(info.name);
    made.rules.push_back(rule);
  }
  return made;
}

TEST(AdmitView, NamesVerdictRuleCaseAndWhatToChange) {
  admit::Admission made = examined();
  EXPECT_THAT(admission_text(made, "Title", Style::plain(), 0),
              HasSubstr("level1/3  Title  admitted\n"));
  made.rules[1].fail("tiny: y = zeros passes with 0.3 of what is allowed");
  made.rules[1].next = "tighten it";
  const std::string text = admission_text(made, "Title", Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("NOT ADMITTED"));
  EXPECT_THAT(text, HasSubstr("  2 null       fails         worst of null\n"));
  EXPECT_THAT(text, HasSubstr("- tiny: y = zeros passes with 0.3 of what is allowed\n"));
  EXPECT_THAT(text, HasSubstr("> tighten it\n"));
}

TEST(AdmitView, SomeRulesGiveNoVerdict) {
  admit::Admission made = examined();
  made.rules.resize(2);
  EXPECT_THAT(admission_text(made, "Title", Style::plain(), 0), Not(HasSubstr("dmitted")));
}

TEST(AdmitView, WrapsBelowTheStartAndShowsNoControlCharacters) {
  admit::Admission made = examined();
  made.rules[0].worst =
      std::string("a\x1b[31m ") + std::string(30, 'b') + ' ' + std::string(30, 'c');
  const std::string text = admission_text(made, "T", Style::plain(), 70);
  EXPECT_THAT(text, HasSubstr("\n                             ccc"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace sweep::cli
