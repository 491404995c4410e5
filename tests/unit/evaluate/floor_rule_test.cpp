#include "evaluate/floor_rule.h"

#include "problem/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace sweep::evaluate {
namespace {

device::Info h200() {
  device::Info info;
  info.arch = "sm_90a";
  info.sm_count = 132;
  info.l2_bytes = 60U << 20U;
  info.dram_bytes_per_second = 4.8e12;
  return info;
}

problem::Problem shipped(const char* folder) {
  return problem::require(std::filesystem::path(SWEEP_SOURCE_DIR) / "problems" / folder);
}

TEST(FloorRule, BytesBeyondTheCacheAtDatasheetBandwidth) {
  const problem::Problem heat = shipped("sci/heat2d");
  for (const problem::Shape& shape : heat.shapes) {
    const problem::Draw draw =
        problem::visible_draw(heat, shape, "default", problem::Key::from_seed(1));
    const problem::WorkValues work = problem::work_of(heat, draw);
    const Floor floor = floor_of(heat, draw, h200());
    EXPECT_DOUBLE_EQ(floor.bytes, std::max(0.0, work.bytes - 60.0 * 1024 * 1024));
    EXPECT_GE(floor.seconds, floor.bytes / 4.8e12);
    // Never above the figure that users see as "of roofline".
    EXPECT_LE(floor.seconds, problem::floor_seconds(heat, work) + 1e-12);
  }
}

TEST(FloorRule, UnknownBandwidthKnowsNothing) {
  const problem::Problem heat = shipped("sci/heat2d");
  const problem::Draw draw =
      problem::visible_draw(heat, heat.shapes.back(), "default", problem::Key::from_seed(1));
  EXPECT_EQ(floor_of(heat, draw, device::Info{}).seconds, 0);
}

TEST(FloorRule, OtherArchitecturesHaveNoComputeFloor) {
  const problem::Problem distances = shipped("level1/19_pairwise_distance");
  const problem::Draw draw = problem::visible_draw(
      distances, distances.shapes.back(), "default", problem::Key::from_seed(1));
  device::Info other = h200();
  other.arch = "sm_100a";
  const Floor floor = floor_of(distances, draw, other);
  EXPECT_DOUBLE_EQ(floor.seconds, floor.bytes / 4.8e12);
}

TEST(FloorRule, TheSlowestReplicateMustBeWellBelow) {
  const Floor floor{100e-6, 480e6, true, {}};
  EXPECT_FALSE(below_floor("full", floor, std::array{91e-6, 50e-6}));
  const auto failure = below_floor("full", floor, std::array{89e-6, 50e-6});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::rejected_floor);
  EXPECT_NE(failure->text.find("full: a call takes 89 us"), std::string::npos) << failure->text;
  EXPECT_FALSE(below_floor("full", floor, {}));
  EXPECT_FALSE(below_floor("full", Floor{}, std::array{1e-9}));
}

TEST(FloorRule, WhatMayBeSkippedIsForAPersonToLookAt) {
  const auto failure = below_floor("full", Floor{100e-6, 480e6, false, {}}, std::array{10e-6});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::review);
}

}  // namespace
}  // namespace sweep::evaluate
