#include "key_in_hand.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sweep::queue::test {
namespace {

TEST(Breaker, FailuresInARowPauseEverybodyAndOneProbeResumes) {
  Key key;
  key.ask(answered(1));
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
    EXPECT_LE(wait, key.settings.longest_pause * 1.25);
    before = wait;
    key.now += wait;
  }
  EXPECT_EQ(before, key.settings.longest_pause);
  EXPECT_TRUE(key.ask(failed(Result::refused))) << "never a failed conversation";
  key.state->breaker().try_now(key.now);
  EXPECT_FALSE(key.ask(answered(1)));
  // Refused after it once answered: no haste.
  key.ask(failed(Result::refused));
  EXPECT_NEAR(key.state->breaker().wait(key.now, false), Breaker::kFirst, 1e-9);
}

// Whatever a file remembers of earlier sweeps: who starts one has perhaps just mended the path.
TEST(Breaker, AFreshStartHasNoPausesOfEarlierOnes) {
  for (const Result why : {Result::refused, Result::transient}) {
    Key key;
    key.ask(answered(1));
    for (int i = 0; i < 20; ++i) {
      key.now += key.state->breaker().wait(key.now, false);
      key.ask(failed(why));
    }
    EXPECT_GT(key.state->breaker().wait(key.now, false), 60);
    key.state->breaker().try_now(key.now);
    for (const double pause : {1, 2, 4}) {
      EXPECT_EQ(key.state->breaker().wait(key.now, false), 0);
      EXPECT_TRUE(key.ask(failed(why)));
      EXPECT_NEAR(key.state->breaker().wait(key.now, false), pause, 1e-9);
      key.now += pause;
    }
  }
}

TEST(Breaker, AServerOnThisMachineIsTriedEveryFewSeconds) {
  Key key;
  key.settings.longest_pause = 5;
  key.ask(answered(1));
  for (int i = 0; i < 20; ++i) {
    key.now += key.state->breaker().wait(key.now, false);
    key.ask(failed(Result::transient));
    EXPECT_LE(key.state->breaker().wait(key.now, false), 5 * 1.25);
  }
}

TEST(Breaker, KeepsWhatThePauseIsForUntilAnAnswer) {
  Key key;
  record::TryEnd end = failed(Result::transient);
  end.reached = false;
  end.text = std::string(500, 'x') + "\xc3";
  for (int i = 0; i < 5; ++i) {
    key.ask(end);
  }
  EXPECT_EQ(key.state->cause().trouble(), Trouble::unreachable);
  EXPECT_GT(key.state->cause().text().size(), 100U);
  EXPECT_LT(key.state->cause().text().size(), 500U);
  key.now += 100;
  key.ask(answered(1));
  EXPECT_EQ(key.state->cause().trouble(), Trouble::none);
  EXPECT_EQ(key.state->cause().text(), "");
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
  key.settings.longest_pause = 5;  // however often it is tried
  bool paused = true;
  int tries = 0;
  for (; paused && tries < 10000; ++tries) {
    key.now += key.state->breaker().wait(key.now, false);
    paused = key.ask(failed(Result::transient)) || tries < 4;
  }
  EXPECT_GT(tries, 1000);
  EXPECT_NEAR(key.now - 1000, Breaker::kPatience, 10);
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
