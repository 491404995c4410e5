#include "../../support/lane_simulation.h"

#include <gtest/gtest.h>

namespace sweep::queue::testing {
namespace {

// 32 agents a lane, each of which thinks for 30 s and needs the lane for 3 s: on the average 2.7
// want it.
TEST(LaneSimulation, LanesAreKeptBusyWhileModelsThink) {
  const LaneUse use = LaneSimulation(LaneLoad()).run();
  EXPECT_GT(use.busy, 0.95);
  EXPECT_GT(use.busy_to_end, 0.85);
  EXPECT_LE(use.most_apart, 32) << "no model has most of the workers";
}

// Models that are too slow cannot be made up for: what is measured can be small.
TEST(LaneSimulation, SlowModelsLeaveLanesIdle) {
  LaneLoad load;
  load.think = 600;
  load.items = 400;
  EXPECT_LT(LaneSimulation(load).run().busy, 0.3);
}

TEST(LaneSimulation, TooFewCompilersLeaveLanesIdle) {
  LaneLoad load;
  load.compilers = 2;
  load.items = 400;
  EXPECT_LT(LaneSimulation(load).run().busy, 0.5);
}

}  // namespace
}  // namespace sweep::queue::testing
