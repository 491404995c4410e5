#include "evaluate/timed_shape.h"

#include "evaluate/throughput.h"

#include <gtest/gtest.h>

#include <set>

namespace sweep::evaluate {
namespace {

TimedShape shape_with(int pool) {
  TimedShape shape;
  shape.place.name = "full";
  for (int i = 0; i < pool; ++i) {
    shape.pool.push_back({});
    shape.pool.back().draw.shape = std::to_string(i);
  }
  return shape;
}

const problem::Key kKey = problem::Key::from_seed(7);

TEST(TimedShape, PoolContentsStandAtKeyedPlacesEachOnce) {
  const TimedShape shape = shape_with(8);
  std::set<std::vector<int>> places;
  for (int replicate = 0; replicate < 20; ++replicate) {
    std::set<const PoolDraw*> seen;
    std::vector<int> where;
    for (int index = 0; index < 40; ++index) {
      if (const PoolDraw* draw = pool_draw(shape, kKey, replicate, index, 40, false)) {
        EXPECT_TRUE(seen.insert(draw).second);
        where.push_back(index);
      }
    }
    EXPECT_EQ(seen.size(), 8U);
    places.insert(where);
  }
  EXPECT_GT(places.size(), 2U);
}

// On an H200 four blocks used the pool in the same order in each of 15 replicates: rows of other
// lengths cost other times, and the drift guard saw a trend of 43% that was no drift.
TEST(TimedShape, EveryReplicateHasThePoolInAnotherOrder) {
  const TimedShape shape = shape_with(8);
  for (const bool only_pool : {false, true}) {
    std::vector<double> rank(8, 0);
    std::set<std::string> orders;
    for (int replicate = 0; replicate < 400; ++replicate) {
      std::string order;
      for (int index = 0; index < 8; ++index) {
        const PoolDraw* draw = pool_draw(shape, kKey, replicate, index, 8, only_pool);
        ASSERT_NE(draw, nullptr);
        order += draw->draw.shape;
        rank.at(static_cast<std::size_t>(draw - shape.pool.data())) += index / 400.0;
      }
      orders.insert(order);
    }
    EXPECT_GT(orders.size(), 300U);
    for (const double mean : rank) {
      EXPECT_NEAR(mean, 3.5, 0.6);  // five standard errors
    }
  }
}

TEST(TimedShape, BuffersHaveAsManySetsAsReplicatesCanUseAndOneWhereTheyAreLarge) {
  constexpr double kMiB = 1 << 20;
  EXPECT_EQ(address_sets(256 * kMiB, 15), 3);
  EXPECT_EQ(address_sets(257 * kMiB, 15), 1);
  EXPECT_EQ(address_sets(0, 1), 1);
  EXPECT_EQ(address_sets(kMiB, 2), 2);
}

// An input of 1 MiB and an output with three copies: 5 MiB a call, 256 of them over 1 GiB.
TEST(TimedShape, GraphsTakeAGibibyteAtMostAndNothingWhereThereIsNone) {
  constexpr double kMiB = 1 << 20;
  EXPECT_EQ(graph_bytes({kMiB, kMiB}), 1024 * kMiB);
  EXPECT_EQ(graph_bytes({kMiB / 1024, kMiB / 1024}), 256 * 5 * kMiB / 1024);
  EXPECT_EQ(graph_bytes({40 * kMiB, 30 * kMiB}), 1024 * kMiB) << "160 MiB may be 128 for inout";
  EXPECT_EQ(graph_bytes({41 * kMiB, 30 * kMiB}), 0);
}

TEST(TimedShape, OnlyPoolTakesThemInTurn) {
  const TimedShape shape = shape_with(3);
  std::set<const PoolDraw*> first, second;
  for (int index = 0; index < 3; ++index) {
    first.insert(pool_draw(shape, kKey, 1, index, 6, true));
    second.insert(pool_draw(shape, kKey, 1, index + 3, 6, true));
  }
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(second.size(), 3U);
}

}  // namespace
}  // namespace sweep::evaluate
