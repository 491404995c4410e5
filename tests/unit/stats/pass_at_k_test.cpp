#include "stats/pass_at_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace sweep::stats {
namespace {

using testing::HasSubstr;

TEST(PassAtK, UnbiasedEstimateByHand) {
  EXPECT_DOUBLE_EQ(pass_estimate(5, 2, 1), 0.4);
  EXPECT_DOUBLE_EQ(pass_estimate(5, 2, 2), 0.7);  // 1 - C(3,2) / C(5,2)
  EXPECT_DOUBLE_EQ(pass_estimate(5, 2, 3), 0.9);  // 1 - 1/10
  EXPECT_DOUBLE_EQ(pass_estimate(5, 2, 4), 1);
  EXPECT_DOUBLE_EQ(pass_estimate(5, 0, 5), 0);
  EXPECT_NEAR(pass_estimate(200, 1, 100), 0.5, 1e-12);
  EXPECT_THROW((void)pass_estimate(3, 1, 4), std::invalid_argument);
  EXPECT_THROW((void)pass_estimate(3, 4, 1), std::invalid_argument);
  EXPECT_THROW((void)pass_estimate(3, 1, 0), std::invalid_argument);
}

std::vector<Unit> two_problems() {
  std::vector<Unit> out;
  for (int i = 0; i < 5; ++i) {
    out.push_back({"a", "c", "", i < 2});
    out.push_back({"b", "c", "", i < 1});
  }
  return out;
}

TEST(PassAtK, MeansOverProblems) {
  const PassAtK at = pass_at_k(two_problems(), 2, {});
  ASSERT_TRUE(at.value) << at.why_not;
  EXPECT_DOUBLE_EQ(*at.value, (0.7 + 0.4) / 2);
  EXPECT_EQ(at.problems, 2U);
  EXPECT_EQ(at.units, 10U);
  ASSERT_TRUE(at.interval);
  EXPECT_DOUBLE_EQ(at.interval->low, 0.4);
  EXPECT_DOUBLE_EQ(at.interval->high, 0.7);
}

TEST(PassAtK, RisesWithK) {
  double before = 0;
  for (std::uint64_t k = 1; k <= 5; ++k) {
    const double here = *pass_at_k(two_problems(), k, {}).value;
    EXPECT_GE(here, before);
    before = here;
  }
}

TEST(PassAtK, SaysWhyItDoesNotApply) {
  EXPECT_THAT(pass_at_k({}, 1, {}).why_not, HasSubstr("no judged attempts"));
  const PassAtK few = pass_at_k(two_problems(), 6, {});
  EXPECT_FALSE(few.value);
  EXPECT_EQ(few.why_not, "k = 6 needs 6 judged attempts at every problem, and a has 5");
  auto units = two_problems();
  units[3].configuration = "other";
  EXPECT_THAT(pass_at_k(units, 1, {}).why_not, HasSubstr("unlike configurations"));
  units = two_problems();
  units[0].seed = units[2].seed = "7";
  EXPECT_EQ(pass_at_k(units, 2, {}).why_not,
            "attempts at a share a sampling seed, so they are not independent");
  units[2].seed = "8";
  EXPECT_TRUE(pass_at_k(units, 2, {}).value);
}

}  // namespace
}  // namespace sweep::stats
