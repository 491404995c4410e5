#include "timing/schedule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace sweep::timing {
namespace {

ScheduleKey key(int n) {
  return {"level1/3", "candidate" + std::to_string(n), "session"};
}

std::vector<Arm> flat(const std::vector<Block>& blocks) {
  std::vector<Arm> arms;
  for (const Block& block : blocks) {
    arms.insert(arms.end(), block.order.begin(), block.order.end());
  }
  return arms;
}

TEST(Schedule, GivesEachArmEachContentOnce) {
  for (const Block& block : schedule(key(0), 0, std::vector<int>{20, 7, 1})) {
    for (int content = 0; content < 2; ++content) {
      std::map<Arm, int> seen;
      for (int position = 0; position < 4; ++position) {
        if (content_of_position(position) == content) {
          ++seen[block.order.at(static_cast<std::size_t>(position))];
        }
      }
      EXPECT_EQ(seen[Arm::seed], 1);
      EXPECT_EQ(seen[Arm::candidate], 1);
    }
  }
}

TEST(Schedule, BalancesOrdersAndPredecessors) {
  for (int n = 0; n < 50; ++n) {
    const auto blocks = schedule(key(n), n, std::vector<int>{20, 20, 20});
    ASSERT_EQ(blocks.size(), 60U);
    std::map<int, int> seed_first;
    for (const Block& block : blocks) {
      seed_first[block.shape] += block.order[0] == Arm::seed ? 1 : 0;
    }
    for (const auto& [shape, count] : seed_first) {
      EXPECT_EQ(count, 10) << "shape " << shape;
    }
    const Predecessors p = predecessors(blocks);
    EXPECT_LE(std::abs(p[0][1] - p[1][0]), 1);
    EXPECT_LE(std::abs(p[0][0] - p[1][1]), 1);
  }
}

TEST(Schedule, FollowsFromItsKeyAlone) {
  const std::vector<int> blocks{20, 20};
  EXPECT_EQ(flat(schedule(key(1), 0, blocks)), flat(schedule(key(1), 0, blocks)));
  EXPECT_NE(flat(schedule(key(1), 0, blocks)), flat(schedule(key(2), 0, blocks)));
  EXPECT_NE(flat(schedule(key(1), 0, blocks)), flat(schedule(key(1), 1, blocks)));
}

TEST(Schedule, PartsOfTheKeyCannotBeMovedAcrossTheirBorder) {
  const std::vector<int> blocks{40};
  EXPECT_NE(flat(schedule({"a", "bc", "d"}, 0, blocks)),
            flat(schedule({"ab", "c", "d"}, 0, blocks)));
}

TEST(Schedule, NumbersBlocksOfAShapeInOrder) {
  std::map<int, int> next;
  for (const Block& block : schedule(key(3), 2, std::vector<int>{5, 0, 3})) {
    EXPECT_EQ(block.number, next[block.shape]++);
  }
  EXPECT_EQ(next[0], 5);
  EXPECT_EQ(next[1], 0);
  EXPECT_EQ(next[2], 3);
}

}  // namespace
}  // namespace sweep::timing
