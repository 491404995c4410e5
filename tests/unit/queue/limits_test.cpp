#include "key_in_hand.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace sweep::queue::test {
namespace {

TEST(Meter, RefillsAllTheTimeAndBoundsAMinute) {
  Meter meter;
  // 60 a minute in bursts of 10 s: ten at once, then one a second.
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(meter.wait(5, 1, 60, 10), 0) << i;
    meter.take(5, 1, 60);
  }
  EXPECT_NEAR(meter.wait(5, 1, 60, 10), 1, 1e-3);
  EXPECT_NEAR(meter.wait(5.25, 1, 60, 10), 0.75, 1e-3);
  EXPECT_EQ(meter.wait(6.01, 1, 60, 10), 0);
  EXPECT_EQ(meter.last_minute(5), 10);
  EXPECT_EQ(meter.last_minute(65.9), 10) << "second 5 may hold a part of the last minute";
  EXPECT_EQ(meter.last_minute(66), 0);
}

TEST(Meter, WhatWasNotUsedComesBackAndADebtIsPaid) {
  Meter meter;
  meter.take(0, 1000, 6000);  // the whole burst
  EXPECT_NEAR(meter.wait(0, 500, 6000, 10), 5, 1e-3);
  meter.give_back(1, 0, 700, 6000);
  EXPECT_EQ(meter.last_minute(1), 300);
  EXPECT_EQ(meter.wait(1, 500, 6000, 10), 0);
  // More was used than reserved: 1,000 below nothing, and 100 come back a second.
  meter.take(1, 1800, 6000);
  EXPECT_NEAR(meter.wait(1, 100, 6000, 10), 11, 0.1);
}

TEST(Meter, WhatNeverFitsGoesAloneAndLeavesADebt) {
  Meter meter;
  meter.take(0, 1, 600);
  EXPECT_NEAR(meter.wait(0, 5000, 600, 10), 61, 1e-3) << "after everything else";
  meter = {};
  EXPECT_EQ(meter.wait(0, 5000, 600, 10), 0);
  meter.take(0, 5000, 600);
  EXPECT_NEAR(meter.wait(0, 1, 600, 10), 490.1, 0.01);
}

TEST(Meter, WaitingAsLongAsItSaysIsEnough) {
  std::mt19937_64 random(1);
  Meter meter;
  double now = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto amount = static_cast<std::int64_t>(random() % 900);
    const double wait = meter.wait(now, amount, 5000, 7);
    now += wait;
    ASSERT_LE(meter.wait(now, amount, 5000, 7), 1e-5) << i;
    meter.take(now, amount, 5000);
    now += static_cast<double>(random() % 100) / 100;
  }
}

// What was granted when, and how much.
using Grants = std::vector<std::pair<double, std::int64_t>>;

std::int64_t most_in_a_minute(const Grants& grants) {
  std::int64_t most = 0;
  std::int64_t sum = 0;
  std::size_t first = 0;
  for (const auto& [at, amount] : grants) {
    sum += amount;
    for (; grants[first].first <= at - 60; ++first) {
      sum -= grants[first].second;
    }
    most = std::max(most, sum);
  }
  return most;
}

// Fifty conversations that ask without a pause, for an hour. Answers take what was reserved or
// less.
TEST(Limits, NoMinuteHasMoreThanTheLimits) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    std::mt19937_64 random(seed);
    Key key;
    key.settings = {90, 40000, 20, true, false, seed % 2 == 0 ? 10.0 : 60.0};

    struct Flight {
      std::int64_t seat;
      double ends;
      std::size_t grant;  // in `tokens`, which holds what was used in the end
    };

    std::vector<Flight> flights;
    Grants requests;
    Grants tokens;
    for (int i = 0; i < 50; ++i) {
      (void)key.join(static_cast<std::int64_t>(random() % 3000), random() % 2 == 0);
    }
    while (key.now < 4600) {
      double step = 1;
      while (const Seat* first = key.state->first()) {
        const LimitState::Turn turn = key.turn(first->number);
        if (turn.hold != Hold::none) {
          step = std::min(step, turn.seconds);
          break;
        }
        requests.emplace_back(key.now, 1);
        tokens.emplace_back(key.now, first->tokens);
        flights.push_back(
            {first->number, key.now + static_cast<double>(random() % 200) / 10, tokens.size() - 1});
        key.state->grant(*key.state->find(first->number), key.now, key.settings);
      }
      key.now += step;
      for (std::size_t i = flights.size(); i-- > 0;) {
        if (flights[i].ends <= key.now) {
          std::int64_t& used = tokens[flights[i].grant].second;
          used -= random() % 2 == 0 ? used / 3 : 0;
          key.settle(flights[i].seat, answered(used));
          flights.erase(flights.begin() + static_cast<std::ptrdiff_t>(i));
          (void)key.join(static_cast<std::int64_t>(random() % 3000), random() % 2 == 0);
        }
      }
    }
    EXPECT_LE(most_in_a_minute(requests), 90) << seed;
    EXPECT_LE(most_in_a_minute(tokens), 40000) << seed;
    // And it is no idle promise: most of the hour's tokens were used.
    std::int64_t sum = 0;
    for (const auto& [at, amount] : tokens) {
      sum += amount;
    }
    EXPECT_GT(sum, 60 * 40000 * 8 / 10) << seed;
  }
}

TEST(Limits, ReservedTokensAreReconciled) {
  Key key;
  key.settings.tpm = 60000;
  const auto seat = key.take(9000);
  ASSERT_TRUE(seat);
  EXPECT_FALSE(key.take(2000)) << "10,000 go at once";
  key.settle(*seat, answered(3000));
  EXPECT_EQ(key.state->tokens().last_minute(key.now), 3000);
  EXPECT_TRUE(key.take(7000));
  const auto debt = key.take(0);
  key.settle(*debt, answered(5000));
  EXPECT_FALSE(key.take(1));
  EXPECT_EQ(key.state->tokens().last_minute(key.now), 15000);
}

TEST(Limits, AFailureBeforeAnyByteGivesTokensBackAndKeepsTheRequest) {
  Key key;
  key.settings = {100, 60000, 10, true, false, 10};
  const auto seat = key.take(9000);
  EXPECT_FALSE(key.settle(*seat, failed(Result::transient)));
  EXPECT_EQ(key.state->tokens().last_minute(key.now), 0);
  EXPECT_EQ(key.state->requests().last_minute(key.now), 1);
  // A cut stream was paid for.
  const auto cut = key.take(9000);
  record::TryEnd end = failed(Result::transient);
  end.began = true;
  key.settle(*cut, end);
  EXPECT_EQ(key.state->tokens().last_minute(key.now), 9000);
}

TEST(Limits, TheDeadGiveSlotAndTokensBack) {
  Key key;
  key.settings = {100, 60000, 1, true, false, 10};
  const auto seat = key.take(9000);
  ASSERT_TRUE(seat);
  EXPECT_FALSE(key.take(1));
  key.state->leave(*seat, key.now, key.settings);
  EXPECT_EQ(key.state->in_flight(), 0);
  EXPECT_EQ(key.state->tokens().last_minute(key.now), 0);
  EXPECT_EQ(key.state->requests().last_minute(key.now), 1);
}

TEST(Limits, FirstComeFirstServedButBegunConversationsFirst) {
  Key key;
  key.settings.max_in_flight = 1;
  const auto busy = key.take();
  const std::int64_t fresh = key.join(1, false);
  const std::int64_t second = key.join(1, false);
  const std::int64_t begun = key.join(1, true);
  const std::int64_t begun_later = key.join(1, true);
  EXPECT_EQ(key.turn(begun).hold, Hold::slot);
  EXPECT_EQ(key.turn(fresh).hold, Hold::queue);
  key.settle(*busy, answered(1));
  for (const std::int64_t seat : {begun, begun_later, fresh, second}) {
    ASSERT_EQ(key.state->first()->number, seat);
    EXPECT_EQ(key.turn(seat).hold, Hold::none);
    key.state->grant(*key.state->find(seat), key.now, key.settings);
    key.settle(seat, answered(1));
  }
}

TEST(Limits, AFullHouseRefusesAnotherSeat) {
  Key key;
  for (std::size_t i = 0; i < LimitState::kSeats; ++i) {
    (void)key.join();
  }
  EXPECT_EQ(key.state->join(5000, 1, false), nullptr);
}

TEST(Limits, TheReserveFollowsWhatAnswersTake) {
  Key key;
  const record::Need open{100, std::nullopt};
  const record::Need bounded{100, 50};
  EXPECT_EQ(key.state->estimate(open, false), 100 + LimitState::kFirstGuess);
  EXPECT_EQ(key.state->estimate(bounded, false), 150);
  for (int i = 1; i <= 10; ++i) {
    key.ask(answered(1, i * 10));
  }
  EXPECT_EQ(key.state->estimate(open, false), 100 + 90) << "nine of ten took no more";
  EXPECT_EQ(key.state->estimate(bounded, false), 150);
  EXPECT_EQ(key.state->estimate({100, 4000}, false), 190);
  EXPECT_EQ(key.state->estimate({100, 4000}, true), 4100);
}

TEST(Limits, A429HoldsEverybodyForAsLongAsItSays) {
  Key key;
  EXPECT_TRUE(key.ask(failed(Result::throttled, 40))) << "this one waits too, it does not fail";
  const std::int64_t seat = key.join();
  EXPECT_EQ(key.turn(seat).hold, Hold::asked);
  EXPECT_NEAR(key.turn(seat).seconds, 40, 1e-3);
  key.now += 40.1;
  EXPECT_EQ(key.turn(seat).hold, Hold::none);
}

TEST(Limits, A429ThatSaysNothingOrTooLongIsForTheRetryPolicy) {
  Key key;
  EXPECT_FALSE(key.ask(failed(Result::throttled)));
  EXPECT_FALSE(key.ask(failed(Result::throttled, LimitState::kLongestAsked + 1)));
}

TEST(Growth, DoublesUntilTheFirst429ThenGrowsSlowly) {
  Growth growth;
  const auto round = [&](double now) {
    const std::int64_t size = growth.limit(200);
    for (std::int64_t i = 0; i < size; ++i) {
      growth.answered(now, 200);
    }
    return growth.limit(200);
  };
  EXPECT_EQ(growth.limit(200), 20);
  EXPECT_EQ(growth.limit(8), 8);
  EXPECT_EQ(round(0), 40);
  EXPECT_EQ(round(1), 80);
  growth.throttled(2, 0, 200);
  EXPECT_EQ(growth.limit(200), 64);
  growth.throttled(3, 0, 200);
  EXPECT_EQ(growth.limit(200), 64) << "once an episode";
  EXPECT_EQ(round(4), 64) << "none grows while it cools down";
  EXPECT_EQ(round(17.5), 67);
  EXPECT_EQ(round(18), 70);
  growth.throttled(20, 60, 200);
  EXPECT_EQ(growth.limit(200), 56);
  EXPECT_EQ(round(79), 56);
  EXPECT_EQ(round(81), 59);
  for (int i = 0; i < 100; ++i) {
    growth.throttled(1000 + 100 * i, 0, 200);
  }
  EXPECT_EQ(growth.limit(200), 1);
  for (int i = 0; i < 1000; ++i) {
    (void)round(20000);
  }
  EXPECT_EQ(growth.limit(200), 200);
}

TEST(Growth, AFailureBeginsTheRoundAnew) {
  Growth growth;
  for (int i = 0; i < 19; ++i) {
    growth.answered(0, 200);
  }
  growth.disturbed();
  growth.answered(0, 200);
  EXPECT_EQ(growth.limit(200), 20);
}

}  // namespace
}  // namespace sweep::queue::test
