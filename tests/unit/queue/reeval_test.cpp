#include "queue/reeval_why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

record::Trajectory judged(const std::string& verdict, const std::string& outcome) {
  record::Trajectory t;
  t.item_id = "v/m/level1/3";
  t.outcome = outcome;
  t.final_result.emplace().verdict = verdict;
  return t;
}

TEST(Reeval, TheSameVerdictIsNoChange) {
  const auto one = judged("PASS_FASTER", "correct");
  const Reevaluated same = compared(one, one);
  EXPECT_FALSE(same.changed);
  EXPECT_THAT(same.why, IsEmpty());
  EXPECT_EQ(same.item, "v/m/level1/3");
}

TEST(Reeval, SaysWhatDiffersInTheRecord) {
  auto before = judged("PASS_FASTER", "correct");
  auto now = judged("INCORRECT_VALUES", "incorrect");
  before.provenance.problem_sha256 = std::string(64, 'a');
  now.provenance.problem_sha256 = std::string(64, 'b');
  before.provenance.driver = now.provenance.driver = "580";
  const Reevaluated changed = compared(before, now);
  EXPECT_TRUE(changed.changed);
  EXPECT_THAT(changed.why,
              ElementsAre("the problem's files: aaaaaaaaaaaa before, bbbbbbbbbbbb now"));
}

TEST(Reeval, ATimingThatScattersIsToldFromOneThatDiffers) {
  auto before = judged("PASS_FASTER", "correct");
  auto now = judged("PASS_INCONCLUSIVE", "correct");
  before.final_result->speedup = record::Interval{1.05, 1.02, 1.08};
  now.final_result->speedup = record::Interval{1.01, 0.97, 1.04};
  EXPECT_THAT(why_changed(before, now), ElementsAre(HasSubstr("intervals overlap")));
  now.final_result->speedup = record::Interval{0.9, 0.88, 0.92};
  EXPECT_THAT(why_changed(before, now), ElementsAre(HasSubstr("do not overlap")));
}

TEST(Reeval, WithoutADifferenceTheKernelIsSuspected) {
  EXPECT_THAT(
      why_changed(judged("PASS_FASTER", "correct"), judged("INCORRECT_VALUES", "incorrect")),
      ElementsAre(HasSubstr("may not do the same each time")));
}

TEST(Reeval, AFailedHarnessIsSaidFirst) {
  auto now = judged("INFRA_JUDGE", "infra_error");
  now.error = "judge: died";
  now.provenance.driver = "580";
  EXPECT_THAT(why_changed(judged("PASS_FASTER", "correct"), now)[0],
              HasSubstr("harness failed now: judge: died"));
}

}  // namespace
}  // namespace sweep::queue
