#include "device/cuda/telemetry.h"

#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

namespace sweep::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The library of tests/support/fake_nvml.cpp, which answers as it was told.
class FakeNvml : public ::testing::Test {
 protected:
  FakeNvml() : handle_(dlopen(SWEEP_FAKE_NVML, RTLD_NOW | RTLD_NODELETE)) { reset(); }

  template <typename... Arguments>
  void tell(const char* name, Arguments... arguments) {
    auto* function = reinterpret_cast<void (*)(Arguments...)>(dlsym(handle_, name));
    ASSERT_NE(function, nullptr) << name;
    function(arguments...);
  }

  void reset() { tell("fake_nvml_reset"); }

  static Telemetry open() {
    const std::array<std::filesystem::path, 1> candidates{SWEEP_FAKE_NVML};
    return Telemetry::open("GPU-fake", candidates);
  }

  void* handle_;
};

TEST_F(FakeNvml, EnergyIsTheCountersInJoules) {
  const Telemetry telemetry = open();
  tell("fake_nvml_energy", 12345678ULL);
  EXPECT_DOUBLE_EQ(*telemetry.read().energy_joules, 12345.678);
  tell("fake_nvml_energy", 12346078ULL);
  EXPECT_NEAR(*telemetry.read().energy_joules - 12345.678, 0.4, 1e-9);
  EXPECT_FALSE(telemetry.read().power_watts) << "the fake does not say";
}

TEST_F(FakeNvml, ProcessesAreThoseBesideThisOne) {
  const Telemetry telemetry = open();
  EXPECT_THAT(*telemetry.read().foreign_processes, IsEmpty());
  tell("fake_nvml_process", 40U);
  tell("fake_nvml_process", 41U);
  EXPECT_THAT(*telemetry.read().foreign_processes, ElementsAre(40, 41));
}

TEST_F(FakeNvml, BusyIsWhoUsedTheMultiprocessorsSince) {
  const Telemetry telemetry = open();
  EXPECT_THAT(telemetry.busy_since(1000), IsEmpty()) << "nobody was sampled";
  tell("fake_nvml_sample", 40U, 1000'500'000ULL, 0U);
  tell("fake_nvml_sample", 41U, 1000'500'000ULL, 7U);
  tell("fake_nvml_sample", 41U, 1000'700'000ULL, 9U);
  tell("fake_nvml_sample", static_cast<unsigned>(::getpid()), 1000'500'000ULL, 99U);
  EXPECT_THAT(telemetry.busy_since(1000), ElementsAre(41));
  EXPECT_THAT(telemetry.busy_since(1000.6), ElementsAre(41));
  EXPECT_THAT(telemetry.busy_since(1000.7), IsEmpty());
  EXPECT_THAT(telemetry.busy_since(0), IsEmpty()) << "no instant";
}

TEST_F(FakeNvml, AnotherGpuIsNotOpened) {
  const std::array<std::filesystem::path, 1> candidates{SWEEP_FAKE_NVML};
  EXPECT_THROW((void)Telemetry::open("GPU-other", candidates), util::InfraError);
}

}  // namespace
}  // namespace sweep::device::cuda
