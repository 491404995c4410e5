#include "device/device.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sweep::device {
namespace {

// The cpu device has no ways of its own for these, so it runs the ones by host memory.
TEST(DeviceDefaults, CopyAndCompareInPieces) {
  const auto on = open({Kind::cpu, 0});
  constexpr std::size_t kBytes = (std::size_t{1} << 22U) + 1004;
  const auto a = on->allocate(kBytes);
  const auto b = on->allocate(kBytes);
  on->fill_words(a->address(), kBytes, 0x12345678U);
  on->copy(b->address(), a->address(), kBytes);
  EXPECT_TRUE(on->equal(a->address(), b->address(), kBytes));
  EXPECT_TRUE(on->all_words(b->address(), kBytes, 0x12345678U));
  const std::array<std::byte, 1> other{std::byte{1}};
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 22U, kBytes - 1}) {
    on->upload(b->address() + at, other);
    EXPECT_FALSE(on->equal(a->address(), b->address(), kBytes)) << at;
    EXPECT_TRUE(on->equal(a->address(), b->address(), at)) << at;
    EXPECT_FALSE(on->all_words(b->address(), kBytes, 0x12345678U)) << at;
    on->copy(b->address(), a->address(), kBytes);
  }
  EXPECT_TRUE(on->equal(a->address(), b->address(), 0));
  const std::array<Claim, 3> claims{Claim{a->address(), kBytes, b->address()},
                                    Claim{a->address(), kBytes, 0, 0x12345678U},
                                    Claim{a->address(), kBytes, 0, 0x12345679U}};
  EXPECT_EQ(on->holds(claims), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace sweep::device
