#include "device/cpu/block.h"

#include <gmock/gmock.h>

#include <set>
#include <tuple>

namespace sweep::device::cpu {
namespace {

std::set<std::tuple<unsigned, unsigned, unsigned>> as_set(const std::vector<uint3>& order) {
  std::set<std::tuple<unsigned, unsigned, unsigned>> all;
  for (const uint3 t : order) {
    all.emplace(t.x, t.y, t.z);
  }
  return all;
}

TEST(ThreadOrder, HoldsEveryThreadOnce) {
  for (const uint3 block :
       {uint3{1, 1, 1}, uint3{33, 1, 1}, uint3{7, 5, 3}, uint3{1024, 1, 1}, uint3{1, 1, 64}}) {
    for (std::uint64_t key = 0; key < 50; ++key) {
      const auto order = thread_order(block, key);
      ASSERT_EQ(order.size(), block.x * block.y * block.z);
      ASSERT_EQ(as_set(order).size(), order.size());
      for (const uint3 t : order) {
        ASSERT_TRUE(t.x < block.x && t.y < block.y && t.z < block.z);
      }
    }
  }
}

TEST(ThreadOrder, DependsOnTheKey) {
  std::set<unsigned> first;
  for (std::uint64_t key = 0; key < 64; ++key) {
    first.insert(thread_order({256, 1, 1}, key)[0].x);
  }
  EXPECT_GT(first.size(), 32U);
}

TEST(ThreadOrder, KeepsWarpsTogether) {
  const auto order = thread_order({128, 1, 1}, 9);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].x / 32, order[i / 32 * 32].x / 32);
  }
}

TEST(Stacks, GuardsAreKnown) {
  Stacks stacks;
  char* top = static_cast<char*>(stacks.top(3));
  EXPECT_FALSE(stacks.is_guard(top - 8));
  EXPECT_TRUE(stacks.is_guard(static_cast<char*>(stacks.top(0)) - kStackBytes - 8));
  EXPECT_FALSE(stacks.is_guard(&stacks));
}

}  // namespace
}  // namespace sweep::device::cpu
