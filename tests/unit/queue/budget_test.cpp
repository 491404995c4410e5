#include "queue/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::queue {
namespace {

using Answer = Budget::Answer;
using ::testing::HasSubstr;

record::Row request(const nlohmann::json& facts) {
  record::Row row;
  row.kind = record::kind::request;
  row.data = {{"facts", facts}};
  return row;
}

record::Row costing(std::int64_t nano, std::int64_t tokens = 0) {
  return request({{"cost_nano_usd", nano}, {"usage", {{"input", tokens}, {"output", 0}}}});
}

constexpr std::int64_t kDollar = 1'000'000'000;

TEST(Budget, WithoutALimitEverythingFits) {
  Budget budget({}, {}, {costing(5 * kDollar)});
  EXPECT_EQ(budget.ask(0, {1'000'000'000'000, 1'000'000 * kDollar}), Answer::yes);
  EXPECT_FALSE(budget.used_up());
  EXPECT_EQ(budget.spent_usd(), 5);
}

TEST(Budget, CountsWhatLostAnswersCostToo) {
  Budget budget(1.0, {}, {});
  budget.note(
      request({{"cost_nano_usd", 10},
               {"wasted_nano_usd", 5},
               {"usage", {{"input", 100}, {"output", 20}, {"cached", 90}}},
               {"attempts", {{{"lost_input", 7}, {"lost_output", 3}}, {{"status", 200}}}}}));
  budget.note(request({{"wasted_nano_usd", 1}, {"error", "transport"}}));
  budget.note(request({{"cost_nano_usd", "nonsense"}, {"usage", 3}, {"attempts", 4}}));
  budget.note(request(nullptr));
  EXPECT_NEAR(budget.spent_usd(), 16e-9, 1e-15);
  EXPECT_NEAR(budget.wasted_usd(), 6e-9, 1e-15);
  EXPECT_EQ(budget.spent_tokens(), 130);
}

TEST(Budget, WhatWouldExceedItIsRefused) {
  Budget budget(1.0, {}, {costing(kDollar * 9 / 10)});
  EXPECT_EQ(budget.ask(0, {0, kDollar / 10}), Answer::yes);
  budget.release(0);
  EXPECT_EQ(budget.ask(0, {0, kDollar / 10 + 1}), Answer::no);
  EXPECT_THAT(budget.text({0, kDollar / 5}),
              HasSubstr("$1 would be exceeded ($0.9 spent, the next request may cost $0.2)"));
  budget.note(costing(kDollar / 10));
  EXPECT_TRUE(budget.used_up());
  EXPECT_EQ(budget.ask(0, {0, 0}), Answer::no) << "at the limit nothing goes, for free or not";
  EXPECT_THAT(budget.text({0, 0}), HasSubstr("$1 is used up ($1 spent)"));
}

TEST(Budget, WhatOthersMayUseIsWaitedFor) {
  Budget budget(1.0, {}, {});
  EXPECT_EQ(budget.ask(1, {0, kDollar * 7 / 10}), Answer::yes);
  EXPECT_EQ(budget.ask(2, {0, kDollar * 4 / 10}), Answer::later);
  EXPECT_EQ(budget.ask(3, {0, kDollar * 3 / 10}), Answer::yes);
  // The first took less than it might have.
  budget.note(costing(kDollar / 10));
  budget.release(1);
  EXPECT_EQ(budget.ask(2, {0, kDollar * 4 / 10}), Answer::yes);
  // A holder that asks again holds once.
  budget.release(3);
  EXPECT_EQ(budget.ask(2, {0, kDollar * 9 / 10}), Answer::later);
  budget.release(2);
  EXPECT_EQ(budget.ask(2, {0, kDollar * 9 / 10}), Answer::yes);
}

TEST(Budget, TokensAreALimitOfTheirOwn) {
  Budget budget({}, 1000, {costing(kDollar, 900)});
  EXPECT_EQ(budget.ask(0, {100, kDollar}), Answer::yes);
  EXPECT_EQ(budget.ask(1, {1, 0}), Answer::later);
  EXPECT_EQ(budget.ask(1, {101, 0}), Answer::no);
  EXPECT_THAT(budget.text({101, 0}), HasSubstr("would be exceeded"));
  budget.note(costing(0, 100));
  EXPECT_TRUE(budget.used_up());
  EXPECT_THAT(budget.text(), HasSubstr("tokens is used up"));
}

}  // namespace
}  // namespace sweep::queue
