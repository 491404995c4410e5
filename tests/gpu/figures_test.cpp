#include "device/cuda/harness.h"
#include "device/cuda/telemetry.h"
#include "fixture.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

namespace sweep::gpu {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_of(int times, const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    all.push_back(seconds_of(work));
  }
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[static_cast<std::size_t>(times) / 2];
}

void figure(const char* name, double seconds) {
  std::printf("figure %s %.1f us\n", name, seconds * 1e6);
}

class Figures : public OnDevice {};

// Prints what parts of a judged call cost; asserts nothing about time.
TEST_F(Figures, OfTheDeviceLayer) {
  const auto& info = on().info();
  std::printf("figure device %s, driver %s, %s, %d SMs, L2 %zu bytes, %.0f GB/s\n",
              info.name.c_str(),
              info.driver.c_str(),
              info.arch.c_str(),
              info.sm_count,
              info.l2_bytes,
              info.dram_bytes_per_second / 1e9);
  figure("compile_own_code", seconds_of([&] { static_cast<void>(on().own_code()); }));
  figure("first_flush", seconds_of([&] { static_cast<void>(on().flush_cache()); }));
  figure("flush", median_of(100, [&] { static_cast<void>(on().flush_cache()); }));
  figure("wash", median_of(100, [&] {
           on().wash();
           on().synchronize();
         }));
  figure("reset_persisting", median_of(100, [&] { on().reset_persisting_cache(); }));
  figure("allocate_64MiB", median_of(20, [&] { static_cast<void>(on().allocate(1U << 26U)); }));
  const auto buffer = on().allocate(1U << 26U);
  figure("export_import_64MiB", median_of(20, [&] {
           static_cast<void>(on().import(buffer->export_fd(), 1U << 26U, device::Access::read));
         }));
  const auto module = load(compile(kPlain, {"nothing"}));
  ASSERT_NE(module, nullptr);
  const auto sequence = prepare(*module, {device::Launch{"nothing", {1, 1, 1}, {1, 1, 1}, 0, {}}});
  ASSERT_NE(sequence, nullptr);
  std::vector<double> on_device;
  std::vector<double> on_host;
  for (int i = 0; i < 101; ++i) {
    const device::RunTime time = run(*sequence);
    on_device.push_back(time.device_seconds);
    on_host.push_back(time.host_seconds);
  }
  std::sort(on_device.begin(), on_device.end());
  std::sort(on_host.begin(), on_host.end());
  figure("empty_graph_by_events", on_device[50]);
  figure("empty_graph_by_host", on_host[50]);
}

TEST_F(Figures, OfNvml) {
  const auto telemetry = device::cuda::Telemetry::open(on().info().uuid);
  const auto reading = telemetry.read();
  EXPECT_FALSE(telemetry.driver_version().empty());
  ASSERT_TRUE(reading.sm_clock_mhz.has_value());
  EXPECT_GT(*reading.sm_clock_mhz, 0);
  ASSERT_TRUE(reading.temperature_c.has_value());
  ASSERT_TRUE(reading.power_watts.has_value());
  EXPECT_GT(*reading.power_watts, 0);
  std::printf("figure nvml sm %.0f MHz of %.0f, memory %.0f MHz, %.0f C, %.1f W, reasons 0x%llx\n",
              *reading.sm_clock_mhz,
              telemetry.max_sm_clock_mhz().value_or(0),
              reading.memory_clock_mhz.value_or(0),
              *reading.temperature_c,
              *reading.power_watts,
              static_cast<unsigned long long>(reading.throttle_reasons.value_or(0)));
  if (reading.foreign_processes) {
    std::printf("figure nvml_foreign_processes %zu\n", reading.foreign_processes->size());
  }
  if (reading.energy_joules) {
    std::printf("figure nvml_energy %.3f J\n", *reading.energy_joules);
  }
}

TEST_F(Figures, DeviceIsListedAsItIsOpened) {
  const auto listed = device::cuda::list();
  ASSERT_FALSE(listed.empty());
  EXPECT_TRUE(listed[0].usable) << listed[0].reason;
  EXPECT_EQ(listed[0].info.uuid, on().info().uuid);
  EXPECT_GT(on().free_bytes(), 0U);
}

}  // namespace
}  // namespace sweep::gpu
