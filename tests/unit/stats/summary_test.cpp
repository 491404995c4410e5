#include "stats/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace sweep::stats {
namespace {

using testing::ElementsAre;

TEST(GeometricMean, SaysWhatFailuresDo) {
  const std::vector<Attempt> attempts = {{0, 4}, {1, 1}, {2, 0}, {3, 0}};
  const GeometricMean alone = geometric_mean(attempts, Failures::leave_out, {});
  EXPECT_DOUBLE_EQ(*alone.value, 2);
  EXPECT_EQ(alone.n, 2U);
  EXPECT_EQ(alone.failed, 2U);
  const GeometricMean all = geometric_mean(attempts, Failures::count_as_one, {});
  EXPECT_NEAR(*all.value, 1.4142135623730951, 1e-15);
  EXPECT_EQ(all.n, 4U);
  EXPECT_EQ(all.failed, 2U);
  EXPECT_NE(text(Failures::leave_out), text(Failures::count_as_one));
}

TEST(GeometricMean, IntervalIsOverProblems) {
  // Two problems, 4x and 1x: a resample's mean is 1, 2 or 4 with chances 1/4, 1/2, 1/4.
  const std::vector<Attempt> two = {{0, 4}, {1, 1}};
  const GeometricMean mean = geometric_mean(two, Failures::leave_out, {});
  ASSERT_TRUE(mean.interval);
  EXPECT_NEAR(mean.interval->low, 1, 1e-12);
  EXPECT_NEAR(mean.interval->high, 4, 1e-12);
  const std::vector<Attempt> one = {{0, 4}, {0, 1}};
  EXPECT_FALSE(geometric_mean(one, Failures::leave_out, {}).interval);
}

TEST(GeometricMean, NothingAndFailuresAlone) {
  EXPECT_FALSE(geometric_mean({}, Failures::leave_out, {}).value);
  const std::vector<Attempt> failed = {{0, 0}, {1, 0}};
  EXPECT_FALSE(geometric_mean(failed, Failures::leave_out, {}).value);
  EXPECT_DOUBLE_EQ(*geometric_mean(failed, Failures::count_as_one, {}).value, 1);
  EXPECT_THROW((void)geometric_mean(std::vector<Attempt>{{5, 1}}, Failures::leave_out, {}),
               std::invalid_argument);
}

TEST(CostLedger, AnUnknownPriceStaysUnknown) {
  const std::vector<Expense> expenses = {{"a", 0.5, 0.1},
                                         {"b", std::nullopt, std::nullopt},
                                         {"a", 0.25, std::nullopt},
                                         {"b", 2.0, {}}};
  const CostLedger ledger = cost_ledger(expenses);
  ASSERT_EQ(ledger.models.size(), 2U);
  EXPECT_EQ(ledger.models[0].model, "a");
  EXPECT_DOUBLE_EQ(*ledger.models[0].spent(), 0.75);
  EXPECT_DOUBLE_EQ(ledger.models[0].known_wasted, 0.1);
  EXPECT_FALSE(ledger.models[1].spent());
  EXPECT_DOUBLE_EQ(ledger.models[1].known_spent, 2);
  EXPECT_EQ(ledger.models[1].unknown, 1U);
  EXPECT_FALSE(ledger.total.spent());
  EXPECT_EQ(ledger.total.items, 4U);
  EXPECT_DOUBLE_EQ(ledger.total.known_spent, 2.75);
  EXPECT_DOUBLE_EQ(*cost_ledger({}).total.spent(), 0);
}

TEST(ParetoFront, KeepsWhatNothingBeats) {
  //                                  front    front    dearer   worse    equal    front
  const std::vector<Offer> offers = {{1, 1.0}, {2, 2.0}, {3, 2.0}, {2, 1.5}, {2, 2.0}, {9, 3.0}};
  EXPECT_THAT(pareto_front(offers), ElementsAre(true, true, false, false, true, true));
  EXPECT_THAT(pareto_front({}), ElementsAre());
}

}  // namespace
}  // namespace sweep::stats
