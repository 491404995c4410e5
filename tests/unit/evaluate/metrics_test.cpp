#include "evaluate/metrics.h"

#include "evaluate/energy.h"
#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;

ShapeTiming timed_shape_of_metrics() {
  ShapeTiming shape;
  shape.shape = "mid";
  shape.seed_seconds = 4e-4;
  shape.candidate_seconds = 1e-4;
  shape.floor_seconds = 2.5e-5;
  shape.launches = 2;
  shape.seed_launches = 6;
  shape.bytes = 2e8;
  shape.flops = 1e9;
  shape.unit = "fp32";
  shape.flops_needed = true;
  shape.tensor_bytes = 100;
  shape.scratch_bytes = 100;
  shape.seed_scratch_bytes = 400;
  return shape;
}

Ceilings h200_ceilings() {
  return {{{"DRAM read", 4e12, "B/s", ""},
           {"DRAM copy", 3e12, "B/s", ""},
           {"fp32 FMA", 5e13, "op/s", ""}},
          ""};
}

std::vector<Metric> metrics_for(const ShapeTiming& shape,
                                const Ceilings& ceilings,
                                device::Kind kind = device::Kind::cuda) {
  TimeResult time;
  time.shapes = {shape};
  return metrics_of(time, kind, ceilings);
}

double metric_value(const std::vector<Metric>& metrics, const char* name) {
  const Metric* found = find_metric(metrics, name, "mid");
  return found != nullptr ? found->value.value_or(-1) : -2;
}

std::string metric_reason(const std::vector<Metric>& metrics, const char* name) {
  const Metric* found = find_metric(metrics, name, "mid");
  return found == nullptr || found->value ? "" : found->text;
}

TEST(Metrics, FollowFromTimesAndWork) {
  const auto found = metrics_for(timed_shape_of_metrics(), h200_ceilings());
  EXPECT_DOUBLE_EQ(metric_value(found, "bytes_per_second"), 2e12);
  EXPECT_DOUBLE_EQ(metric_value(found, "flop_per_second"), 1e13);
  // 2e8 B at the fastest 4e12 B/s take 50 us of 100; the flops 20.
  EXPECT_DOUBLE_EQ(metric_value(found, "roofline"), 0.5);
  EXPECT_EQ(find_metric(found, "roofline", "mid")->text, "DRAM read");
  EXPECT_DOUBLE_EQ(metric_value(found, "speed_of_light"), 0.25);
  EXPECT_DOUBLE_EQ(metric_value(found, "launch_ratio"), 3);
  EXPECT_DOUBLE_EQ(metric_value(found, "memory_ratio"), 2.5);
}

TEST(Metrics, TheLongerOfBytesAndFlopsBounds) {
  ShapeTiming shape = timed_shape_of_metrics();
  shape.flops = 4e9;  // 80 us
  auto found = metrics_for(shape, h200_ceilings());
  EXPECT_DOUBLE_EQ(metric_value(found, "roofline"), 0.8);
  EXPECT_EQ(find_metric(found, "roofline", "mid")->text, "fp32 FMA");
  shape.flops_needed = false;  // another algorithm may need fewer: they bound nothing
  found = metrics_for(shape, h200_ceilings());
  EXPECT_DOUBLE_EQ(metric_value(found, "roofline"), 0.5);
  EXPECT_DOUBLE_EQ(metric_value(found, "flop_per_second"), 4e13);
}

TEST(Metrics, EnergyIsThatOfTheShapeThatWasMeasured) {
  TimeResult time;
  time.shapes = {timed_shape_of_metrics(), timed_shape_of_metrics()};
  time.shapes[1].shape = "full";
  time.energy = {"mid", 0.6, 0.4, 4, ""};
  const auto found = metrics_of(time, device::Kind::cuda, h200_ceilings());
  EXPECT_DOUBLE_EQ(metric_value(found, "energy_per_call"), 0.4);
  EXPECT_DOUBLE_EQ(metric_value(found, "energy_ratio"), 1.5);
  EXPECT_EQ(find_metric(found, "energy_ratio", "full")->text, "measured at mid only");
  time.energy.reason = "NVML counts no energy on this device";
  EXPECT_EQ(metric_reason(metrics_of(time, device::Kind::cuda, {}), "energy_ratio"),
            time.energy.reason);
  EXPECT_THAT(metric_reason(metrics_of(time, device::Kind::cpu, {}), "energy_ratio"),
              HasSubstr("cpu device"));
}

TEST(Metrics, ThroughputIsThatOfTheGraphsOrSaysWhyThereAreNone) {
  ShapeTiming shape = timed_shape_of_metrics();
  EXPECT_EQ(metric_reason(metrics_for(shape, {}), "throughput_per_call"), "was not measured");
  shape.throughput = {34, 14e-6, 7e-6, {1.9, 2.0, 2.1}, ""};
  const auto found = metrics_for(shape, {});
  EXPECT_DOUBLE_EQ(metric_value(found, "throughput_per_call"), 7e-6);
  EXPECT_DOUBLE_EQ(metric_value(found, "throughput_ratio"), 2.0);
  EXPECT_EQ(find_metric(found, "throughput_per_call", "mid")->text, "graphs of 34 calls");
}

TEST(Metrics, ARowOfCallsForEnergyLastsAboutASecond) {
  EXPECT_EQ(energy_calls(10), 1);
  EXPECT_NEAR(energy_calls(1e-3), 995, 1);
  EXPECT_NEAR(energy_calls(0), 200'000, 1);
  EXPECT_NEAR(energy_calls(-1), 200'000, 1);
}

TEST(Metrics, WhatCannotBeHadSaysWhy) {
  ShapeTiming shape = timed_shape_of_metrics();
  EXPECT_EQ(metric_reason(metrics_for(shape, {{}, "not calibrated: none"}), "roofline"),
            "not calibrated: none");
  EXPECT_THAT(metric_reason(metrics_for(shape, {}), "roofline"),
              HasSubstr("no ceiling of its memory"));
  shape.unit = "tensor-fp8";
  EXPECT_THAT(metric_reason(metrics_for(shape, h200_ceilings()), "roofline"),
              HasSubstr("no ceiling of tensor-fp8"));
  shape.flops = shape.bytes = shape.floor_seconds = 0;
  shape.launches = 0;
  const auto found = metrics_for(shape, h200_ceilings());
  for (const char* name :
       {"bytes_per_second", "flop_per_second", "roofline", "speed_of_light", "launch_ratio"}) {
    EXPECT_NE(metric_reason(found, name), "") << name;
  }
  EXPECT_THAT(
      metric_reason(metrics_for(timed_shape_of_metrics(), h200_ceilings(), device::Kind::cpu),
                    "speed_of_light"),
      HasSubstr("H200"));
  EXPECT_TRUE(metrics_of({}, device::Kind::cuda, {}).empty());
}

TEST(Metrics, TheCpuDeviceHasNoCeilings) {
  EXPECT_THAT(ceilings_of("/nonexistent", device::Kind::cpu, {}).reason, HasSubstr("cpu device"));
  device::Info info;
  info.uuid = "GPU-1";
  EXPECT_THAT(ceilings_of("/nonexistent", device::Kind::cuda, info).reason,
              HasSubstr("not calibrated"));
}

TEST(Metrics, TravelAsJson) {
  const auto metrics = metrics_for(timed_shape_of_metrics(), {{}, "why"});
  const nlohmann::json body = to_json(metrics);
  EXPECT_EQ(to_json(metrics_from_json(body)), body);
  EXPECT_EQ(body.at(2).at("value"), nullptr);
  EXPECT_EQ(body.at(2).at("reason"), "why");
  EXPECT_THROW((void)metrics_from_json(nlohmann::json::object()), wire::WireError);
  nlohmann::json broken = body;
  broken[0]["name"] = 3;
  EXPECT_THROW((void)metrics_from_json(broken), wire::WireError);
}

}  // namespace
}  // namespace sweep::evaluate
