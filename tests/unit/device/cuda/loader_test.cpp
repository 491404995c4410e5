#include "device/cuda/cuda_device.h"
#include "device/cuda/telemetry.h"
#include "util/error.h"

#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/driver.h"
#include "device/cuda/info.h"
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

namespace sweep::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::array<const char*, 1> kNowhere{"/nonexistent/lib.so"};

TEST(Telemetry, MissingLibrarySaysWhatToDo) {
  const std::array<std::filesystem::path, 1> candidates{kNowhere[0]};
  try {
    const Telemetry telemetry = Telemetry::open("GPU-0", candidates);
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_NO_NVML");
    EXPECT_THAT(error.what(), HasSubstr("libnvidia-ml.so.1 not found"));
  }
}

TEST(Telemetry, LibraryWithoutTheFunctionsIsRefused) {
  const std::array<std::filesystem::path, 1> candidates{"libc.so.6"};
  EXPECT_THROW(static_cast<void>(Telemetry::open("GPU-0", candidates)), util::UsageError);
}

TEST(Telemetry, NamesThrottleBits) {
  EXPECT_THAT(throttle_names(0), IsEmpty());
  EXPECT_THAT(throttle_names(0x44), ElementsAre("power cap", "thermal (hardware)"));
  EXPECT_THAT(throttle_names(1ULL << 63U | 1U), ElementsAre("idle", "bit 63"));
}

TEST(List, NeverThrowsAndGivesAReasonForWhatIsNotUsable) {
  for (const Listed& entry : list()) {
    EXPECT_EQ(entry.id.kind, Kind::cuda);
    EXPECT_NE(entry.usable, !entry.reason.empty());
  }
}

#ifdef SWEEP_HAVE_CUDA
TEST(Driver, MissingLibraryPointsToTheCpuDevice) {
  const std::array<std::filesystem::path, 1> candidates{kNowhere[0]};
  try {
    static_cast<void>(Driver::load(candidates));
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_NO_DRIVER");
    EXPECT_THAT(error.what(),
                StartsWith("no GPU: libcuda.so.1 not found (driver missing or container without "
                           "--gpus); try --device cpu"));
  }
}

TEST(Driver, LibraryWithoutTheFunctionsIsTooOld) {
  const std::array<std::filesystem::path, 1> candidates{"libc.so.6"};
  try {
    static_cast<void>(Driver::load(candidates));
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_NO_DRIVER");
    EXPECT_THAT(error.what(), HasSubstr("too old"));
    EXPECT_THAT(error.what(), HasSubstr("cuMemCreate"));
    // The symbol looked up is the version whose signature cuda.h declares.
    EXPECT_THAT(error.what(), HasSubstr("cuMemcpyHtoDAsync_v2"));
  }
}

TEST(Info, UuidIsWrittenAsNvmlWritesIt) {
  CUuuid uuid{};
  for (int i = 0; i < 16; ++i) {
    uuid.bytes[i] = static_cast<char>(i * 17);
  }
  EXPECT_EQ(uuid_text(uuid), "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST(Info, ArchitectureSpecificFromHopperOn) {
  EXPECT_EQ(arch_text(8, 0), "sm_80");
  EXPECT_EQ(arch_text(9, 0), "sm_90a");
  EXPECT_EQ(arch_text(10, 0), "sm_100a");
}

TEST(FaultKind, CandidateFaultsAreDataAndDeviceFailuresAreNot) {
  constexpr auto other = Fault::Kind::other;
  EXPECT_EQ(fault_kind(CUDA_ERROR_ILLEGAL_ADDRESS, other), Fault::Kind::memory);
  EXPECT_EQ(fault_kind(CUDA_ERROR_MISALIGNED_ADDRESS, other), Fault::Kind::memory);
  EXPECT_EQ(fault_kind(CUDA_ERROR_OUT_OF_MEMORY, other), Fault::Kind::out_of_memory);
  EXPECT_EQ(fault_kind(CUDA_ERROR_LAUNCH_TIMEOUT, other), Fault::Kind::timeout);
  EXPECT_EQ(fault_kind(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, other), Fault::Kind::launch);
  EXPECT_EQ(fault_kind(CUDA_ERROR_LAUNCH_FAILED, Fault::Kind::launch), other);
  EXPECT_EQ(fault_kind(CUDA_ERROR_UNKNOWN, Fault::Kind::launch), Fault::Kind::launch);
  EXPECT_EQ(fault_kind(CUDA_ERROR_ECC_UNCORRECTABLE, other), std::nullopt);
  EXPECT_EQ(fault_kind(CUDA_ERROR_DEVICE_UNAVAILABLE, other), std::nullopt);
}
#endif

}  // namespace
}  // namespace sweep::device::cuda
