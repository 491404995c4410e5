#include "cli/watch_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using evaluate::Verdict;

evaluate::Evaluation watched(Verdict verdict, evaluate::Interval ratio) {
  evaluate::Evaluation e;
  e.problem = "level1/3";
  e.source_sha256 = evaluate::name(verdict);  // texts differ where verdicts do
  e.verdict = verdict;
  if (ratio.point > 0) {
    e.time.emplace();
    e.time->ratio = ratio;
    e.time->replicates = 5;
    e.time->shapes = {{"tiny", {}, 1e-5, 1e-5, ratio}};
  }
  return e;
}

std::string change_after(const std::vector<evaluate::Evaluation>& before,
                         const evaluate::Evaluation& now) {
  WatchPast past;
  for (const evaluate::Evaluation& e : before) {
    remember(past, e);
  }
  return change_text(past, now, Style::plain());
}

const evaluate::Evaluation kEqual = watched(Verdict::pass_equivalent, {0.99, 1.0, 1.01});
const evaluate::Evaluation kFaster = watched(Verdict::pass_faster, {1.4, 1.5, 1.6});
const evaluate::Evaluation kBroken = watched(Verdict::compile_error, {});

TEST(WatchChange, TheFirstHasNone) {
  EXPECT_EQ(change_after({}, kEqual), "");
}

TEST(WatchChange, SpeedsAreComparedWhereTheirIntervalsDoNotOverlap) {
  EXPECT_EQ(change_after({kEqual}, kFaster),
            " change  PASS_EQUIVALENT 1.00x -> PASS_FASTER 1.50x, about 50.0% faster\n");
  EXPECT_EQ(change_after({kFaster}, kEqual),
            " change  PASS_FASTER 1.50x -> PASS_EQUIVALENT 1.00x, about 50.0% slower\n");
  evaluate::Evaluation other = kEqual;
  other.source_sha256 = "other";
  EXPECT_EQ(change_after({kEqual}, other),
            " change  PASS_EQUIVALENT 1.00x -> PASS_EQUIVALENT 1.00x, no clear change of speed, "
            "the intervals overlap\n");
}

TEST(WatchChange, TheSameTextIsNotCalledFaster) {
  evaluate::Evaluation again = kFaster;
  again.source_sha256 = kEqual.source_sha256;
  EXPECT_EQ(change_after({kEqual}, again),
            " change  PASS_EQUIVALENT 1.00x -> PASS_FASTER 1.50x, the same text: what differs is "
            "noise\n");
}

TEST(WatchChange, OneReplicateOrAnUnstableSessionShowsNoChangeOfSpeed) {
  evaluate::Evaluation quick = kFaster;
  quick.time->replicates = 1;
  evaluate::Evaluation unstable = kFaster;
  unstable.verdict = Verdict::unstable;
  for (const evaluate::Evaluation& now : {quick, unstable}) {
    EXPECT_THAT(change_after({kEqual}, now), ::testing::HasSubstr("no statement about speed"));
    EXPECT_THAT(change_after({now}, kEqual), ::testing::HasSubstr("no statement about speed"));
  }
}

TEST(WatchChange, AFailureInBetweenIsSaidAndTheLastTimeKept) {
  EXPECT_EQ(change_after({kEqual}, kBroken), " change  PASS_EQUIVALENT 1.00x -> COMPILE_ERROR\n");
  EXPECT_EQ(change_after({kBroken}, kEqual), " change  COMPILE_ERROR -> PASS_EQUIVALENT 1.00x\n");
  EXPECT_EQ(change_after({kEqual, kBroken}, kFaster),
            " change  COMPILE_ERROR -> PASS_FASTER 1.50x, about 50.0% faster (last timed "
            "1.00x)\n");
}

TEST(WatchChange, AnotherProblemIsNotCompared) {
  evaluate::Evaluation other = kFaster;
  other.problem = "level1/2";
  EXPECT_EQ(change_after({kEqual}, other), " change  PASS_EQUIVALENT 1.00x -> PASS_FASTER 1.50x\n");
}

}  // namespace
}  // namespace sweep::cli
