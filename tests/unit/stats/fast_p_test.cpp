#include "stats/fast_p.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace sweep::stats {
namespace {

const std::vector<Judged> kFour = {
    {0, true, 2.0, 1.9}, {1, true, 1.0, 0.99}, {2, true, 0.5, 0.4}, {3, false, 0, 0}};

TEST(FastP, CountsTheShareOfAllJudgedStrictlyAbove) {
  EXPECT_DOUBLE_EQ(fast_p(kFour, 0, Counting::point), 0.75);
  EXPECT_DOUBLE_EQ(fast_p(kFour, 0.5, Counting::point), 0.5);  // 0.5 is not above 0.5
  EXPECT_DOUBLE_EQ(fast_p(kFour, 0.8, Counting::point), 0.5);
  EXPECT_DOUBLE_EQ(fast_p(kFour, 1, Counting::point), 0.25);
  EXPECT_DOUBLE_EQ(fast_p(kFour, 2, Counting::point), 0);
}

TEST(FastP, TheLowerBoundNeedsTheWholeInterval) {
  EXPECT_DOUBLE_EQ(fast_p(kFour, 0, Counting::lower_bound), 0.75);  // the correct share
  EXPECT_DOUBLE_EQ(fast_p(kFour, 0.45, Counting::lower_bound), 0.5);
  EXPECT_DOUBLE_EQ(fast_p(kFour, 1.9, Counting::lower_bound), 0);
  EXPECT_DOUBLE_EQ(fast_p(kFour, 1.9, Counting::point), 0.25);
}

TEST(FastP, CorrectButUntimedCountsAtZeroAlone) {
  const std::vector<Judged> judged = {{0, true, 0, 0}, {1, false, 0, 0}};
  EXPECT_DOUBLE_EQ(fast_p(judged, 0, Counting::point), 0.5);
  EXPECT_DOUBLE_EQ(fast_p(judged, 0.01, Counting::point), 0);
}

TEST(FastP, AWrongKernelsSpeedSaysNothing) {
  EXPECT_DOUBLE_EQ(fast_p(std::vector<Judged>{{0, false, 9, 8}}, 1, Counting::point), 0);
}

TEST(FastP, ACurveFallsAndLiesInItsBand) {
  std::vector<Judged> judged;
  KeyedRandom random(3, "curve");
  for (std::size_t i = 0; i < 60; ++i) {
    const double speedup = 0.3 + 3 * random.unit();
    judged.push_back({i / 2, random.below(4) != 0, speedup, speedup * 0.97});
  }
  std::vector<double> thresholds;
  for (int i = 0; i <= 40; ++i) {
    thresholds.push_back(0.1 * i);
  }
  const auto point = fast_p_curve(judged, thresholds, Counting::point, {});
  const auto sure = fast_p_curve(judged, thresholds, Counting::lower_bound, {});
  ASSERT_EQ(point.size(), 41U);
  for (std::size_t i = 0; i < point.size(); ++i) {
    ASSERT_TRUE(point[i].band);
    EXPECT_LE(point[i].band->low, point[i].share);
    EXPECT_GE(point[i].band->high, point[i].share);
    EXPECT_LE(sure[i].share, point[i].share);
    EXPECT_DOUBLE_EQ(point[i].share, fast_p(judged, thresholds[i], Counting::point));
    if (i > 0) {
      EXPECT_LE(point[i].share, point[i - 1].share);
    }
  }
}

TEST(FastP, BandOfThreeProblemsByHand) {
  // Two of three succeed: a resample's share is Binomial(3, 2/3) / 3, with P(0) = 1/27 > 2.5% and
  // P(3) = 8/27 > 2.5%.
  const std::vector<Judged> judged = {{0, true, 2, 2}, {1, true, 2, 2}, {2, false, 0, 0}};
  const auto curve = fast_p_curve(judged, std::array{1.0}, Counting::point, {});
  EXPECT_DOUBLE_EQ(curve[0].band->low, 0);
  EXPECT_DOUBLE_EQ(curve[0].band->high, 1);
}

TEST(FastP, AttemptsAtOneProblemAreNoNewProblems) {
  // The same four outcomes, each 50 times over: no more problems, so no narrower band.
  std::vector<Judged> many;
  for (int copy = 0; copy < 50; ++copy) {
    many.insert(many.end(), kFour.begin(), kFour.end());
  }
  const auto once = fast_p_curve(kFour, std::array{0.8}, Counting::point, {});
  const auto often = fast_p_curve(many, std::array{0.8}, Counting::point, {});
  EXPECT_DOUBLE_EQ(once[0].band->low, often[0].band->low);
  EXPECT_DOUBLE_EQ(once[0].band->high, often[0].band->high);
}

TEST(FastP, AllAndNoneTakeWilsonsInterval) {
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < 50; ++i) {
    judged.push_back({i, false, 0, 0});
  }
  const auto none = fast_p_curve(judged, std::array{0.0, 1.0}, Counting::point, {});
  EXPECT_DOUBLE_EQ(none[0].band->low, 0);
  EXPECT_NEAR(none[0].band->high, 0.0713, 5e-5);  // 0 of 50
}

TEST(FastP, OneProblemHasNoBandUnlessItIsAllOrNone) {
  const std::vector<Judged> mixed = {{0, true, 2, 2}, {0, false, 0, 0}};
  EXPECT_FALSE(fast_p_curve(mixed, std::array{1.0}, Counting::point, {})[0].band);
  const std::vector<Judged> one = {{0, true, 2, 2}};
  const auto all = fast_p_curve(one, std::array{1.0}, Counting::point, {});
  EXPECT_NEAR(all[0].band->low, 0.2065, 5e-5);  // Wilson, 1 of 1: 1 / (1 + 1.96^2)
}

TEST(FastP, RefusesNothingAndGaps) {
  EXPECT_THROW((void)fast_p({}, 1, Counting::point), std::invalid_argument);
  EXPECT_THROW((void)fast_p(kFour, -1, Counting::point), std::invalid_argument);
  EXPECT_THROW((void)fast_p_curve({}, std::array{1.0}, Counting::point, {}), std::invalid_argument);
  EXPECT_THROW((void)fast_p_curve(
                   std::vector<Judged>{{7, true, 1, 1}}, std::array{1.0}, Counting::point, {}),
               std::invalid_argument);
}

TEST(ShareInterval, HoldsTheTrueShareAboutAsOftenAsItSays) {
  // 40 problems that succeed with 30%: the percentile bootstrap holds 30% in most of 300 draws.
  KeyedRandom random(11, "coverage");
  int held = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Tally> problems;
    for (int i = 0; i < 40; ++i) {
      problems.push_back({random.unit() < 0.3 ? 1.0 : 0.0, 1});
    }
    const auto band = share_interval(problems, {0.95, 400, static_cast<std::uint64_t>(trial)});
    held += band && band->low <= 0.3 && 0.3 <= band->high ? 1 : 0;
  }
  EXPECT_GE(held, 270);  // 90%
  EXPECT_LT(held, 300);
}

TEST(Columns, GiveTheIntervalsOfEachColumnAlone) {
  Columns columns(20, 2);
  std::vector<Tally> alone;
  for (std::size_t i = 0; i < 20; ++i) {
    const float value = static_cast<float>(i % 7);
    columns.add(i, std::array{value, 2 * value});
    alone.push_back({static_cast<double>(value), 1});
  }
  const auto all = columns.intervals({});
  const auto one = ratio_interval(alone, {});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NEAR(all[0].low, one->low, 1e-6);
  EXPECT_NEAR(all[1].high, 2 * one->high, 1e-6);
  EXPECT_NEAR(columns.ratios()[0], 2.85, 1e-12);  // (2 (0 + .. + 6) + 0 + .. + 5) / 20
  EXPECT_TRUE(Columns(1, 1).intervals({}).empty());
  EXPECT_THROW((void)Columns(2, 1).ratios(), std::invalid_argument);
  EXPECT_THROW(columns.add(20, std::array{1.0F, 1.0F}), std::invalid_argument);
}

TEST(RatioInterval, EqualSeedsGiveEqualIntervalsAndOtherSeedsDoNot) {
  std::vector<Tally> problems;
  for (int i = 0; i < 30; ++i) {
    problems.push_back({0.37 * i * i, 1});
  }
  const auto a = ratio_interval(problems, {0.95, 500, 1});
  const auto b = ratio_interval(problems, {0.95, 500, 1});
  const auto c = ratio_interval(problems, {0.95, 500, 2});
  EXPECT_EQ(a->low, b->low);
  EXPECT_NE(a->low, c->low);
  EXPECT_FALSE(ratio_interval(std::array{Tally{1, 1}}, {}));
  EXPECT_THROW((void)ratio_interval(std::array{Tally{1, 0}, Tally{1, 1}}, {}),
               std::invalid_argument);
  EXPECT_THROW((void)share_interval(std::array{Tally{2, 1}, Tally{1, 1}}, {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace sweep::stats
