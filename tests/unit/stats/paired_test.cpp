#include "stats/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace sweep::stats {
namespace {

TEST(SignTest, ByHand) {
  EXPECT_NEAR(sign_test(8, 2), 0.109375, 1e-12);  // 2 (1 + 10 + 45) / 1024
  EXPECT_NEAR(sign_test(2, 8), 0.109375, 1e-12);
  EXPECT_NEAR(sign_test(5, 0), 0.0625, 1e-12);
  EXPECT_NEAR(sign_test(0, 6), 0.03125, 1e-12);
  EXPECT_NEAR(sign_test(3, 2), 1, 1e-12);
  EXPECT_EQ(sign_test(0, 0), 1);
  EXPECT_EQ(sign_test(4, 4), 1);
}

TEST(SignTest, LargeCountsStayNumbers) {
  EXPECT_NEAR(sign_test(5100, 4900), 0.0466, 1e-3);  // normal: z = 199/100
  EXPECT_GT(sign_test(1000, 0), 0);
  EXPECT_LT(sign_test(1000, 0), 1e-290);
}

TEST(McNemar, LooksOnlyAtWhatOneOfThemSolved) {
  EXPECT_NEAR(mcnemar_exact({500, 1, 9, 30}), 0.021484375, 1e-12);  // 2 (1 + 10) / 1024
  EXPECT_NEAR(mcnemar_exact({0, 1, 9, 0}), 0.021484375, 1e-12);
  EXPECT_EQ(mcnemar_exact({50, 0, 0, 3}), 1);
  EXPECT_EQ((Agreement{1, 2, 3, 4}.n()), 10U);
}

TEST(PairedRatio, ByHand) {
  const auto ratio =
      paired_ratio(std::array{Pair{1, 2}, Pair{2, 4}, Pair{1, 1}, Pair{4, 2}}, {0.95, 500, 1});
  EXPECT_DOUBLE_EQ(ratio.ratio, std::pow(2.0, 0.25));  // 2, 2, 1, 1/2
  EXPECT_EQ(ratio.n, 4U);
  EXPECT_EQ(ratio.higher, 2U);
  EXPECT_EQ(ratio.lower, 1U);
  EXPECT_DOUBLE_EQ(ratio.p_value, 1);
  ASSERT_TRUE(ratio.interval);
  EXPECT_LE(ratio.interval->low, ratio.ratio);
  EXPECT_GE(ratio.interval->high, ratio.ratio);
}

TEST(PairedRatio, TurnsOverWithItsArguments) {
  std::vector<Pair> there;
  std::vector<Pair> back;
  KeyedRandom random(5, "pairs");
  for (int i = 0; i < 25; ++i) {
    const Pair pair{0.5 + random.unit(), 0.5 + 2 * random.unit()};
    there.push_back(pair);
    back.push_back({pair.second, pair.first});
  }
  const PairedRatio a = paired_ratio(there, {});
  const PairedRatio b = paired_ratio(back, {});
  EXPECT_NEAR(a.ratio * b.ratio, 1, 1e-12);
  EXPECT_NEAR(a.interval->low * b.interval->high, 1, 1e-12);
  EXPECT_DOUBLE_EQ(a.p_value, b.p_value);
}

TEST(PairedRatio, SaysWhatItCannot) {
  EXPECT_FALSE(paired_ratio(std::array{Pair{1, 2}}, {}).interval);
  EXPECT_THROW((void)paired_ratio({}, {}), std::invalid_argument);
  EXPECT_THROW((void)paired_ratio(std::array{Pair{0, 2}}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace sweep::stats
