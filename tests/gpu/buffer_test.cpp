#include "child.h"
#include "fixture.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace sweep::gpu {
namespace {

using ::testing::Each;
using ::testing::StartsWith;

class Buffers : public OnDevice {};

constexpr std::size_t kPage = 2 * 1024 * 1024;

std::string text(std::int64_t value) {
  return std::to_string(value);
}

TEST_F(Buffers, EndAtAPageBorderAndStartAligned) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{256}, std::size_t{1000}, kPage, kPage + 4, 5 * kPage - 300}) {
    const auto buffer = on().allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(buffer->address() % 256, 0U);
    EXPECT_EQ((buffer->address() + (bytes + 255) / 256 * 256) % kPage, 0U) << bytes;
    EXPECT_EQ(buffer->front(), buffer->address() % kPage) << bytes;
    on().fill_words(buffer->address() - buffer->front(), buffer->front() + bytes / 4 * 4, 7U);
    on().synchronize();
  }
}

TEST_F(Buffers, KeepsWhatIsUploadedAndFilled) {
  std::vector<std::uint32_t> words(1000);
  std::iota(words.begin(), words.end(), 1U);
  const auto buffer = on().allocate(words.size() * 4);
  on().upload(buffer->address(), std::as_bytes(std::span(words)));
  EXPECT_EQ(download<std::uint32_t>(buffer->address(), words.size()), words);
  on().fill_words(buffer->address(), words.size() * 4, 0xdeadbeefU);
  EXPECT_THAT(download<std::uint32_t>(buffer->address(), words.size()), Each(0xdeadbeefU));
}

TEST_F(Buffers, AreCopiedAndComparedOnTheDevice) {
  constexpr std::size_t kBytes = 3 * kPage + 1001;
  const auto a = on().allocate(kBytes);
  const auto b = on().allocate(kBytes);
  on().fill_words(a->address(), kBytes / 4 * 4 + 4, 0x12345678U);
  on().copy(b->address(), a->address(), kBytes);
  EXPECT_TRUE(on().equal(a->address(), b->address(), kBytes));
  EXPECT_TRUE(on().all_words(a->address(), kBytes / 4 * 4, 0x12345678U));
  const std::array<std::byte, 1> other{std::byte{1}};
  for (const std::size_t at : {std::size_t{0}, kPage + 17, kBytes - 1}) {
    on().upload(b->address() + at, other);
    EXPECT_FALSE(on().equal(a->address(), b->address(), kBytes)) << at;
    EXPECT_TRUE(on().equal(a->address(), b->address(), at)) << at;
    EXPECT_FALSE(on().all_words(b->address(), (at / 4 + 1) * 4, 0x12345678U)) << at;
    on().copy(b->address(), a->address(), kBytes);
  }
  EXPECT_TRUE(on().equal(a->address() + 3, b->address() + 3, kBytes - 3));
  EXPECT_TRUE(on().equal(a->address(), b->address(), 0));
}

TEST_F(Buffers, ManyClaimsAreAnsweredEachForItself) {
  constexpr std::size_t kClaims = 75;
  constexpr std::size_t kBytes = 4096;
  const auto a = on().allocate(kBytes * kClaims);
  const auto b = on().allocate(kBytes * kClaims);
  on().fill_words(a->address(), kBytes * kClaims, 7);
  on().fill_words(b->address(), kBytes * kClaims, 7);
  std::vector<device::Claim> claims;
  std::vector<bool> expected;
  for (std::size_t i = 0; i < kClaims; ++i) {
    const device::Address at = b->address() + i * kBytes;
    if (i % 3 == 1) {
      on().fill_words(at + kBytes - 4, 4, 8);
    }
    claims.push_back(i % 2 == 0 ? device::Claim{at, kBytes, a->address()}
                                : device::Claim{at, kBytes, 0, 7});
    expected.push_back(i % 3 != 1);
  }
  EXPECT_EQ(on().holds(claims), expected);
  EXPECT_TRUE(on().holds({}).empty());
}

TEST_F(Buffers, MoreThanTheDeviceHasIsAnErrorThatLeavesItUsable) {
  try {
    static_cast<void>(on().allocate(on().info().total_bytes + kPage));
    FAIL();
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_DEVICE_MEMORY");
  }
  const auto buffer = on().allocate(64);
  on().fill_words(buffer->address(), 64, 5);
  EXPECT_THAT(download<std::uint32_t>(buffer->address(), 16), Each(5U));
}

// Each case runs in another process; the owner's bytes and context must survive it.
class Shared : public OnDevice {
 protected:
  static constexpr std::size_t kBytes = 1000;  // 24 bytes of slack up to 1024
  static constexpr auto kPageBytes = static_cast<std::int64_t>(kPage);
  static constexpr std::int64_t kGuardBytes = std::int64_t{256} << 20U;

  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) {
      return;
    }
    buffer_ = on().allocate(kBytes);
    on().fill_words(buffer_->address(), kBytes, 0x01010101U);
    on().synchronize();
  }

  [[nodiscard]] std::string child(const std::string& action,
                                  const std::string& access,
                                  std::int64_t offset) {
    const util::Fd fd = buffer_->export_fd();
    const ChildResult result = run_child(action, {text(kBytes), access, text(offset)}, fd.get());
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }

  // The owner still computes, and `changed` of its bytes differ from what it wrote.
  void expect_owner_alive(std::ptrdiff_t changed) {
    const auto now = download<unsigned char>(buffer_->address(), kBytes);
    EXPECT_EQ(std::count_if(now.begin(), now.end(), [](unsigned char b) { return b != 1; }),
              changed);
    const auto module = load(compile(kPlain, {"nothing"}));
    ASSERT_NE(module, nullptr);
    run_once(*module, {"nothing", {1, 1, 1}, {1, 1, 1}, 0, {}});
  }

  std::unique_ptr<device::Buffer> buffer_;
};

TEST_F(Shared, ImporterWritesAndTheOwnerSeesIt) {
  EXPECT_EQ(child("poke", "rw", 999), "ok\n");
  expect_owner_alive(1);
  EXPECT_EQ(download<unsigned char>(buffer_->address() + 999, 1)[0], 77);
}

TEST_F(Shared, ReadOnlyImporterReads) {
  EXPECT_EQ(child("peek", "r", 0), "ok\n");
  expect_owner_alive(0);
}

TEST_F(Shared, ReadOnlyImporterFaultsOnAWrite) {
  EXPECT_THAT(child("poke", "r", 0), StartsWith("fault memory: CUDA error 700"));
  expect_owner_alive(0);
}

// What peers(T) shows of an output: its own rank's mapping may be written.
TEST_F(Shared, ReadOnlyMappingBesideAWritableOneFaultsOnAWrite) {
  EXPECT_EQ(child("peek", "r+rw", 0), "ok\n");
  EXPECT_THAT(child("poke", "r+rw", 0), StartsWith("fault memory: CUDA error 700"));
  expect_owner_alive(0);
}

// Each step of a graph sees through one mapping what the step before it stored through the other,
// also where an earlier step has loaded the same addresses.
TEST_F(Shared, SecondMappingSeesTheStepBefore) {
  const auto alias = on().import(buffer_->export_fd(), kBytes, device::Access::read);
  const auto out = on().allocate(3 * sizeof(unsigned) * 128);
  const auto module = load(compile(
      "extern \"C\" __global__ void put(unsigned* to, unsigned v) { to[threadIdx.x] = v; }\n"
      "extern \"C\" __global__ void get(const unsigned* from, unsigned* to) { to[threadIdx.x] = "
      "from[threadIdx.x]; }\n",
      {"put", "get"}));
  ASSERT_NE(module, nullptr);
  std::vector<device::Step> steps;
  for (unsigned i = 0; i < 3; ++i) {
    steps.emplace_back(device::Launch{
        "put", {1, 1, 1}, {128, 1, 1}, 0, {bytes_of(buffer_->address()), bytes_of(40 + i)}});
    steps.emplace_back(
        device::Launch{"get",
                       {1, 1, 1},
                       {128, 1, 1},
                       0,
                       {bytes_of(alias->address()), bytes_of(out->address() + i * 512)}});
  }
  const auto sequence = prepare(*module, steps);
  ASSERT_NE(sequence, nullptr);
  run(*sequence);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_THAT(download<unsigned>(out->address() + i * std::size_t{512}, 128), Each(40 + i));
  }
}

TEST_F(Shared, SlackUpTo256IsReadable) {
  EXPECT_EQ(child("peek", "r", 1023), "ok\n");
  expect_owner_alive(0);
}

TEST_F(Shared, FirstByteAfterTheSlackFaults) {
  EXPECT_THAT(child("peek", "rw", 1024), StartsWith("fault memory: CUDA error 700"));
  EXPECT_THAT(child("poke", "rw", 1024), StartsWith("fault memory: CUDA error 700"));
  expect_owner_alive(0);
}

TEST_F(Shared, WholeGuardAfterItFaults) {
  for (const std::int64_t distance : {kPageBytes - 1, 4 * kPageBytes, kGuardBytes - 1}) {
    EXPECT_THAT(child("poke", "rw", 1024 + distance), StartsWith("fault memory")) << distance;
  }
  expect_owner_alive(0);
}

TEST_F(Shared, WholeGuardBeforeItFaults) {
  for (const std::int64_t distance : {std::int64_t{1}, 64 * kPageBytes / 2, kGuardBytes}) {
    EXPECT_THAT(child("poke", "rw", 1024 - kPageBytes - distance), StartsWith("fault memory"))
        << distance;
  }
  expect_owner_alive(0);
}

TEST_F(Shared, ImporterCannotExportAgain) {
  auto imported = on().import(buffer_->export_fd(), kBytes, device::Access::read);
  EXPECT_THROW(static_cast<void>(imported->export_fd()), util::InfraError);
  EXPECT_THAT(download<std::uint32_t>(imported->address(), kBytes / 4), Each(0x01010101U));
}

TEST_F(Shared, AnythingElseThanAnExportedDescriptorIsRefused) {
  EXPECT_THROW(static_cast<void>(on().import(
                   util::make_memfd("not device memory", 4096), kBytes, device::Access::read)),
               util::InfraError);
}

}  // namespace
}  // namespace sweep::gpu
