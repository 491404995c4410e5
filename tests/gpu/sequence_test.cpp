#include "fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace sweep::gpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sequences : public OnDevice {
 protected:
  // The fault of preparing one launch of kPlain's kernels; fails the test if it prepares.
  [[nodiscard]] device::Fault refused(const device::Launch& launch) {
    const auto module = load(compile(kPlain, {"add_one", "scale<3>", "reverse_through_shared"}));
    const std::vector<device::Step> steps{launch};
    auto made = on().prepare(*module, steps);
    if (auto* fault = std::get_if<device::Fault>(&made)) {
      return *fault;
    }
    ADD_FAILURE() << "prepared";
    return {};
  }
};

TEST_F(Sequences, StepsRunInOrder) {
  constexpr int kCount = 1000;
  const auto x = on().allocate(kCount * 4);
  const auto y = on().allocate(kCount * 4);
  on().fill_words(x->address(), kCount * 4, 0x7fc00000U);
  const auto module = load(compile(kPlain, {"add_one", "scale<3>"}));
  ASSERT_NE(module, nullptr);
  const device::Launch add{
      "add_one", {4, 1, 1}, {256, 1, 1}, 0, {bytes_of(x->address()), bytes_of(kCount)}};
  device::Launch scale = add;
  scale.kernel = "scale<3>";
  const auto sequence = prepare(*module,
                                {device::Memset{x->address(), kCount * 4},
                                 add,
                                 scale,
                                 add,
                                 device::Memcpy{y->address(), x->address(), kCount * 4}});
  ASSERT_NE(sequence, nullptr);
  for (int again = 0; again < 3; ++again) {
    on().fill_words(y->address(), kCount * 4, 0);
    const device::RunTime time = run(*sequence);
    EXPECT_THAT(download<float>(y->address(), kCount), Each(4.0F));  // (0 + 1) * 3 + 1
    EXPECT_GT(time.device_seconds, 0);
    EXPECT_GT(time.host_seconds, 0);
  }
}

// The events lie within the graph: no less than the kernels' own waits, no more than the host saw.
TEST_F(Sequences, EventsMeasureTheSteps) {
  constexpr unsigned long long kWait = 2'000'000;
  const auto module = load(compile(kPlain, {"wait_ns"}));
  ASSERT_NE(module, nullptr);
  const device::Launch wait{"wait_ns", {1, 1, 1}, {1, 1, 1}, 0, {bytes_of(kWait)}};
  const auto sequence = prepare(*module, {wait, wait, wait});
  ASSERT_NE(sequence, nullptr);
  for (int again = 0; again < 3; ++again) {
    const device::RunTime time = run(*sequence);
    EXPECT_GE(time.device_seconds, 3 * 1.9e-3);  // %globaltimer ticks in steps of up to 1 us
    EXPECT_LE(time.device_seconds, time.host_seconds);
  }
}

TEST_F(Sequences, ArgumentsChangeInPlace) {
  constexpr int kCount = 1000;
  const auto x = on().allocate(kCount * 4);
  const auto module = load(compile(kPlain, {"add_one"}));
  ASSERT_NE(module, nullptr);
  const auto steps = [&](int count) {
    const device::Launch add{
        "add_one", {4, 1, 1}, {256, 1, 1}, 0, {bytes_of(x->address()), bytes_of(count)}};
    return std::vector<device::Step>{device::Memset{x->address(), kCount * 4}, add, add};
  };
  const auto sequence = prepare(*module, steps(kCount));
  ASSERT_NE(sequence, nullptr);
  run(*sequence);
  EXPECT_THAT(download<float>(x->address(), kCount), Each(2.0F));
  ASSERT_TRUE(on().update(*sequence, steps(10)));
  run(*sequence);
  const auto values = download<float>(x->address(), kCount);
  EXPECT_EQ(std::count(values.begin(), values.end(), 2.0F), 10);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0.0F), kCount - 10);
}

TEST_F(Sequences, MemsetOfOddBytes) {
  const auto x = on().allocate(16);
  on().fill_words(x->address(), 16, 0xffffffffU);
  const auto module = load(compile(kPlain, {"nothing"}));
  ASSERT_NE(module, nullptr);
  const auto sequence = prepare(*module, {device::Memset{x->address() + 1, 3}});
  ASSERT_NE(sequence, nullptr);
  run(*sequence);
  EXPECT_THAT(download<std::uint32_t>(x->address(), 2), ElementsAre(0x000000ffU, 0xffffffffU));
}

TEST_F(Sequences, AllOfTheSharedMemory) {
  const int count = static_cast<int>(on().info().max_shared_bytes / 4);
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  const auto x = on().allocate(values.size() * 4);
  on().upload(x->address(), std::as_bytes(std::span(values)));
  const auto module = load(compile(kPlain, {"reverse_through_shared"}));
  ASSERT_NE(module, nullptr);
  run_once(*module,
           {"reverse_through_shared",
            {1, 1, 1},
            {1024, 1, 1},
            static_cast<std::uint32_t>(count * 4),
            {bytes_of(x->address()), bytes_of(count)}});
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(download<float>(x->address(), values.size()), values);
}

TEST_F(Sequences, WrongLaunchesAreFaultsThatLeaveTheDeviceUsable) {
  const std::vector<std::vector<std::byte>> two{bytes_of(device::Address{0}), bytes_of(1)};
  EXPECT_THAT(refused({"missing", {1, 1, 1}, {1, 1, 1}, 0, two}).text, HasSubstr("missing"));
  EXPECT_THAT(refused({"add_one", {1, 1, 1}, {1, 1, 1}, 0, {two[0]}}).text,
              HasSubstr("takes 2 arguments, got 1"));
  EXPECT_THAT(refused({"add_one", {1, 1, 1}, {1, 1, 1}, 0, {two[0], two[0]}}).text,
              HasSubstr("argument 2 has 4 bytes, got 8"));
  EXPECT_EQ(refused({"add_one", {1, 1, 1}, {1025, 1, 1}, 0, two}).kind,
            device::Fault::Kind::launch);
  EXPECT_EQ(refused({"add_one", {0, 1, 1}, {1, 1, 1}, 0, two}).kind, device::Fault::Kind::launch);
  EXPECT_EQ(refused({"add_one", {1, 65536, 1}, {1, 1, 1}, 0, two}).kind,
            device::Fault::Kind::launch);
  EXPECT_EQ(refused({"scale<3>", {1, 1, 1}, {512, 1, 1}, 0, two}).kind,
            device::Fault::Kind::launch);  // its __launch_bounds__ say 256
  EXPECT_THAT(refused({"reverse_through_shared", {1, 1, 1}, {1, 1, 1}, 1U << 20U, two}).text,
              HasSubstr("dynamic shared memory"));
  const auto module = load(compile(kPlain, {"nothing"}));
  ASSERT_NE(module, nullptr);
  run_once(*module, {"nothing", {1, 1, 1}, {1, 1, 1}, 0, {}});
}

TEST_F(Sequences, FactsAndParametersOfAKernel) {
  const auto module = load(compile(kPlain, {"tagged", "nothing", "scale<3>"}));
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(module->facts("tagged").parameter_bytes, ElementsAre(1U, 16U, 8U, 2U));
  EXPECT_TRUE(module->facts("nothing").parameter_bytes.empty());
  EXPECT_EQ(module->facts("scale<3>").max_threads, 256);
  EXPECT_GT(module->facts("scale<3>").registers, 0);
  EXPECT_EQ(module->facts("scale<3>").local_bytes, 0U);
}

TEST_F(Sequences, OccupancyFollowsSharedMemory) {
  const auto module = load(compile(kPlain, {"reverse_through_shared"}));
  ASSERT_NE(module, nullptr);
  const auto most = on().info().max_shared_bytes;
  EXPECT_EQ(module->occupancy("reverse_through_shared", 256, most), 1);
  EXPECT_GT(module->occupancy("reverse_through_shared", 256, 1024), 1);
  EXPECT_EQ(module->occupancy("reverse_through_shared", 256, most + 1024), 0);
  EXPECT_EQ(module->occupancy("reverse_through_shared", 0, 0), 0);
}

TEST_F(Sequences, OtherBytesThanACubinAreAFault) {
  for (const std::string& text : {std::string(),
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(4096, '\x7f'),
                                  std::string("\x7f"
                                              "ELF") +
                                      std::string(4096, '\0'),
                                  std::string(".version 8.0\n.target sm_90\n.address_size 64\n")}) {
    device::Image image;
    const auto bytes = std::as_bytes(std::span(text));
    image.bytes.assign(bytes.begin(), bytes.end());
    EXPECT_TRUE(std::holds_alternative<device::Fault>(on().load(image)));
  }
}

}  // namespace
}  // namespace sweep::gpu
