#include "queue/lane_health.h"

#include "queue/item_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace sweep::queue {
namespace {

using State = LaneHealth::State;

TEST(LaneHealth, AFaultIsProbedAndAnItemThatEndsWellClearsIt) {
  LaneHealth health(2);
  EXPECT_TRUE(health.fault(0));
  EXPECT_FALSE(health.fault(0)) << "a probe is due already";
  EXPECT_EQ(health.state(0), State::probing);
  EXPECT_EQ(health.state(1), State::good);
  health.probed(0, true);
  EXPECT_EQ(health.state(0), State::good);
  health.worked(0);
  EXPECT_EQ(health.faults(0), 0);
  EXPECT_TRUE(health.fault(0));
  health.probed(0, false);
  EXPECT_EQ(health.state(0), State::out);
  health.worked(0);
  EXPECT_FALSE(health.fault(0));
  health.probed(0, true);
  EXPECT_EQ(health.state(0), State::out) << "for good";
}

// Every sequence of up to seven events: a device is out after a failed probe or after three faults
// with nothing that ended well in between, and never otherwise.
void walk(const LaneHealth& health, int faults, bool out, int depth, int& seen) {
  ++seen;
  ASSERT_EQ(health.state(0) == State::out, out);
  ASSERT_EQ(health.faults(0), faults);
  if (depth == 0) {
    return;
  }
  for (int event = 0; event < 4; ++event) {
    LaneHealth next = health;
    int after = faults;
    bool gone = out;
    const bool due = next.state(0) == State::probing;
    if (event == 0) {
      ASSERT_EQ(next.fault(0), health.state(0) == State::good);
      ++after;
    } else if (event == 1) {
      next.worked(0);
      after = 0;
    } else {
      next.probed(0, event == 2);
      gone = gone || (due && (event == 3 || after >= LaneHealth::kFaults));
    }
    walk(next, after, gone, depth - 1, seen);
  }
}

TEST(LaneHealth, EverySequenceOfEvents) {
  int seen = 0;
  walk(LaneHealth(1), 0, false, 7, seen);
  EXPECT_EQ(seen, 21845);  // 1 + 4 + .. + 4^7
}

TEST(ItemWatch, CountsNoWaits) {
  ItemWatch watch;
  watch.begin(100);
  EXPECT_DOUBLE_EQ(watch.worked(110), 10);
  watch.pause(110);
  watch.pause(500);  // said again
  EXPECT_DOUBLE_EQ(watch.worked(10000), 10);
  EXPECT_FALSE(watch.overdue(10000, 60));
  watch.go_on(10000);
  watch.go_on(10001);
  EXPECT_DOUBLE_EQ(watch.worked(10050), 60);
  EXPECT_FALSE(watch.overdue(10050, 60));
  EXPECT_TRUE(watch.overdue(10051, 60));
  EXPECT_FALSE(watch.overdue(1e9, 0)) << "no limit";
  watch.begin(10051);
  EXPECT_FALSE(watch.waits());
  EXPECT_DOUBLE_EQ(watch.worked(10052), 1);
}

}  // namespace
}  // namespace sweep::queue
