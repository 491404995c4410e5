#include "device/device.h"

#include "device/cpu/cpu_device.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <cstring>

namespace sweep::device {
namespace {

TEST(DeviceId, Parses) {
  EXPECT_EQ(parse_id("cpu").kind, Kind::cpu);
  EXPECT_EQ(parse_id("cuda").index, 0);
  EXPECT_EQ(parse_id("cuda:7").index, 7);
  EXPECT_EQ(text(parse_id("cuda:7")), "cuda:7");
  EXPECT_EQ(text(parse_id("cpu")), "cpu");
}

TEST(DeviceId, RefusesOthers) {
  for (const char* name : {"",
                           "gpu",
                           "cuda:",
                           "cuda:-1",
                           "cuda:1x",
                           "cuda7",
                           "cuda:99999999999",
                           "cpu:0",
                           "CPU",
                           "cuda:1024",
                           "cuda :1"}) {
    EXPECT_THROW((void)parse_id(name), util::UsageError) << name;
  }
}

TEST(DeviceList, StartsWithCpu) {
  const auto all = list();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].id.kind, Kind::cpu);
  EXPECT_EQ(all[0].info.uuid, "cpu");
  for (const auto& listed : all) {
    EXPECT_TRUE(listed.usable || !listed.reason.empty());
  }
}

TEST(CpuBuffer, IsAlignedAndEndsAtAGuard) {
  const auto device = cpu::open(1);
  for (const std::size_t bytes : {1U, 255U, 256U, 257U, 4096U, 10000U}) {
    const auto buffer = device->allocate(bytes);
    EXPECT_EQ(buffer->address() % 256, 0U);
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    EXPECT_EQ((buffer->address() + rounded) % 4096, 0U) << bytes;
    std::memset(reinterpret_cast<void*>(buffer->address()), 1, rounded);
  }
}

using CpuBufferDeathTest = testing::Test;

TEST(CpuBufferDeathTest, EdgesAndRights) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto device = cpu::open(1);
  const auto buffer = device->allocate(256);
  auto* bytes = reinterpret_cast<volatile char*>(buffer->address());
  EXPECT_DEATH(bytes[256] = 1, "");
  const auto guest = device->import(buffer->export_fd(), 256, Access::read);
  auto* read_only = reinterpret_cast<volatile char*>(guest->address());
  EXPECT_EQ(read_only[0], 0);
  EXPECT_DEATH(read_only[0] = 1, "");
}

TEST(CpuBuffer, IsShared) {
  const auto device = cpu::open(1);
  const auto owner = device->allocate(1000);
  const auto guest = device->import(owner->export_fd(), 1000, Access::read_write);
  device->fill_words(owner->address(), 1000, 0xabcd1234);
  std::vector<std::uint32_t> words(250);
  device->download(std::as_writable_bytes(std::span(words)), guest->address());
  EXPECT_THAT(words, testing::Each(0xabcd1234U));
  EXPECT_TRUE(device->all_words(guest->address(), 1000, 0xabcd1234));
  EXPECT_TRUE(device->equal(guest->address(), owner->address(), 1000));
}

TEST(CpuBuffer, ImportChecksTheSize) {
  const auto device = cpu::open(1);
  const auto owner = device->allocate(1000);
  EXPECT_THROW((void)device->import(owner->export_fd(), 100000, Access::read), util::InfraError);
}

TEST(CpuDevice, FillsLargeBuffersInParallel) {
  const auto device = cpu::open(3);
  constexpr std::size_t kWords = (1U << 18) + 3;
  const auto buffer = device->allocate(kWords * 4);
  device->fill_words(buffer->address(), kWords * 4, 7);
  EXPECT_TRUE(device->all_words(buffer->address(), kWords * 4, 7));
}

TEST(CpuModule, RefusesOtherFiles) {
  const auto device = cpu::open(1);
  Image image;
  image.bytes.resize(100);
  EXPECT_TRUE(std::holds_alternative<Fault>(device->load(image)));
}

}  // namespace
}  // namespace sweep::device
