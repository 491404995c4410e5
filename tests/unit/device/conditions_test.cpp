#include "device/conditions.h"

#include "device/info_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>

namespace sweep::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Conditions, TheWorstOfSeveralReadings) {
  Conditions first;
  first.sm_clock_mhz = 1980;
  first.power_watts = 300;
  first.throttle = {"idle", "power cap"};
  Conditions second;
  second.sm_clock_mhz = 1500;
  second.temperature_c = 60;
  second.power_watts = 250;
  second.throttle = {"power cap", "sync boost"};
  const Conditions worst = worst_of(std::array{first, second}, "nothing");
  EXPECT_EQ(worst.sm_clock_mhz, 1500);
  EXPECT_EQ(worst.temperature_c, 60);
  EXPECT_EQ(worst.power_watts, 300);
  EXPECT_FALSE(worst.memory_clock_mhz);
  EXPECT_THAT(worst.throttle, ElementsAre("power cap", "sync boost"));
  EXPECT_EQ(worst.reason, "");
  EXPECT_EQ(worst_of({}, "nothing").reason, "nothing");
}

TEST(Conditions, WhatCannotBeReadSaysWhy) {
  const Monitor cpu({Kind::cpu, 0}, {});
  EXPECT_THAT(cpu.read().reason, HasSubstr("cpu device"));
  EXPECT_FALSE(cpu.energy_joules());
  Info info;
  info.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  const Conditions none = Monitor({Kind::cuda, 0}, info).read();
  EXPECT_NE(none.reason, "");
  EXPECT_EQ(worst_of(std::array{none, none}, "").reason, none.reason);
}

TEST(Conditions, TravelAsJson) {
  Conditions made;
  made.sm_clock_mhz = 1980;
  made.throttle = {"power cap"};
  const nlohmann::json body = to_json(made);
  EXPECT_EQ(body.at("power_watts"), nullptr);
  EXPECT_EQ(to_json(conditions_from_json(body)), body);
}

}  // namespace
}  // namespace sweep::device
