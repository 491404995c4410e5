#include "evaluate/session.h"
#include "util/work_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace sweep::evaluate {
namespace {

class SharedPlace : public ::testing::Test {
 protected:
  [[nodiscard]] SessionOptions options(std::int64_t judges) const {
    SessionOptions options;
    options.arm.device = device::parse_id("cuda:0");
    options.locks = folder_.path();
    options.judges = judges;
    return options;
  }

  [[nodiscard]] static device::Info gpu() {
    device::Info info;
    info.uuid = "GPU-one";
    info.total_bytes = 1000;
    return info;
  }

  util::WorkFolder folder_{"sweep-test"};
};

TEST_F(SharedPlace, AsManyAsAllowedAndTheNextWaitsUntilOneIsFree) {
  const SessionOptions two = options(2);
  auto first = shared_place(two, gpu());
  const auto second = shared_place(two, gpu());
  ASSERT_TRUE(first && second);
  SessionOptions waits = options(2);
  std::atomic<int> told = 0;
  std::atomic<std::size_t> holders = 0;
  waits.waiting = [&](const std::vector<util::Holder>* now) {
    if (now != nullptr && told == 0) {
      holders = now->size();
      told = 1;
    } else if (now == nullptr) {
      told = 2;
    }
  };
  std::thread third([&] { EXPECT_TRUE(shared_place(waits, gpu())); });
  while (told == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(holders, 2U);
  first.reset();
  third.join();
  EXPECT_EQ(told, 2);
}

TEST_F(SharedPlace, WhoWaitsForOneIsInNobodysWayWhoWantsTheDeviceAlone) {
  auto place = shared_place(options(1), gpu());
  std::atomic<bool> waiting = false;
  SessionOptions next = options(1);
  next.waiting = [&](const std::vector<util::Holder>*) { waiting = true; };
  std::optional<util::FileLock> late;
  {
    std::thread other([&] { late = shared_place(next, gpu()); });
    while (!waiting) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // Would wait for ever if the other stood before it.
    (void)lock_device(options(1), gpu(), util::LockMode::exclusive, 0);
    place.reset();
    other.join();
  }
  EXPECT_TRUE(late);
}

TEST_F(SharedPlace, EachGpuHasItsOwn) {
  device::Info other = gpu();
  other.uuid = "GPU-two";
  const auto here = shared_place(options(1), gpu());
  EXPECT_TRUE(shared_place(options(1), other));
}

TEST_F(SharedPlace, NoneWithoutALimitAndOnTheCpuDevice) {
  EXPECT_FALSE(shared_place(options(0), gpu()));
  SessionOptions cpu = options(1);
  cpu.arm.device = device::parse_id("cpu");
  EXPECT_FALSE(shared_place(cpu, gpu()));
}

}  // namespace
}  // namespace sweep::evaluate
