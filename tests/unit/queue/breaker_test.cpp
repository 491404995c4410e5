#include "key_in_hand.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sweep::queue::test {
namespace {

TEST(Breaker, FailuresInARowPauseEverybodyAndOneProbeResumes) {
  Key key;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(key.ask(failed(Result::transient)));
  }
  EXPECT_TRUE(key.ask(failed(Result::transient))) << "this one waits, it does not fail";
  const std::int64_t first = key.join();
  const std::int64_t second = key.join();
  EXPECT_EQ(key.turn(first).hold, Hold::paused);
  EXPECT_NEAR(key.turn(first).seconds, Breaker::kFirst, 1e-9);
  EXPECT_TRUE(std::isinf(key.turn(second).seconds));
  key.now += 30;
  EXPECT_EQ(key.turn(first).hold, Hold::none);
  key.state->grant(*key.state->find(first), key.now, key.settings);
  EXPECT_EQ(key.turn(second).hold, Hold::paused) << "one probe alone";
  EXPECT_TRUE(std::isinf(key.turn(second).seconds));
  EXPECT_TRUE(key.settle(first, failed(Result::transient)));
  EXPECT_NEAR(key.turn(second).seconds, 2 * Breaker::kFirst, 1e-9);
  key.now += 60;
  key.state->grant(*key.state->find(second), key.now, key.settings);
  EXPECT_FALSE(key.settle(second, answered(1)));
  EXPECT_TRUE(key.take());
  EXPECT_TRUE(key.take());
}

TEST(Breaker, AProbeThatDiesLeavesItsPlace) {
  Key key;
  key.ask(failed(Result::refused));
  key.now += 1000;
  const auto probe = key.take();
  ASSERT_TRUE(probe);
  EXPECT_FALSE(key.take());
  key.state->leave(*probe, key.now, key.settings);
  EXPECT_TRUE(key.take());
}

TEST(Breaker, AnswersInBetweenKeepItClosed) {
  Key key;
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(key.ask(failed(Result::transient)));
    if (i % 4 == 3) {
      key.ask(answered(1));
    }
  }
  EXPECT_TRUE(key.take());
}

TEST(Breaker, FailuresFarApartKeepItClosed) {
  Key key;
  for (int i = 0; i < 50; ++i) {
    key.now += 20;
    EXPECT_FALSE(key.ask(failed(Result::transient)));
  }
  EXPECT_TRUE(key.take());
}

TEST(Breaker, ARefusedKeyPausesAtOnceAndIsTriedMoreAndMoreRarely) {
  Key key;
  double before = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(key.ask(failed(Result::refused)));
    EXPECT_TRUE(key.state->breaker().refused());
    const double wait = key.state->breaker().wait(key.now, false);
    EXPECT_GE(wait, before);
    EXPECT_LE(wait, Breaker::kLongest * 1.25);
    before = wait;
    key.now += wait;
  }
  EXPECT_EQ(before, Breaker::kLongest);
  EXPECT_TRUE(key.ask(failed(Result::refused))) << "never a failed conversation";
  key.state->breaker().try_now(key.now);
  EXPECT_FALSE(key.ask(answered(1)));
  // Refused after it once answered: no haste.
  key.ask(failed(Result::refused));
  EXPECT_NEAR(key.state->breaker().wait(key.now, false), Breaker::kFirst, 1e-9);
}

TEST(Breaker, JitterSpreadsTheProbes) {
  Key a;
  Key b;
  a.settle(a.take().value(), failed(Result::refused), 0);
  b.settle(b.take().value(), failed(Result::refused), 0.999);
  EXPECT_NEAR(a.state->breaker().wait(a.now, false), 0.75, 1e-9);
  EXPECT_NEAR(b.state->breaker().wait(b.now, false), 1.25, 0.01);
}

TEST(Breaker, AnOutageOfHoursLetsRequestsFailAtLast) {
  Key key;
  bool paused = true;
  int probes = 0;
  for (; paused && probes < 100; ++probes) {
    key.now += key.state->breaker().wait(key.now, false);
    paused = key.ask(failed(Result::transient)) || probes < 4;
  }
  EXPECT_EQ(probes, 5 + Breaker::kPatience);
  EXPECT_GT(key.now, 1000 + 3600);
}

TEST(Breaker, WhatWasUnderWayWhenItOpenedChangesNothing) {
  Key key;
  const auto late = key.take();
  key.ask(failed(Result::refused));
  const double until = key.state->breaker().wait(key.now, false);
  key.settle(*late, failed(Result::refused));
  EXPECT_EQ(key.state->breaker().wait(key.now, false), until);
}

}  // namespace
}  // namespace sweep::queue::test
