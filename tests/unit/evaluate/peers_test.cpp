#include "evaluate/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::evaluate {
namespace {

TEST(Peers, HaveABufferOfEachRank) {
  problem::ConcreteTensor tensor;
  tensor.shape = {5};
  tensor.stacked = {5};
  EXPECT_EQ(parts_of(tensor), 1U);
  tensor.stacked = {3, 5};
  EXPECT_EQ(parts_of(tensor), 3U);
  tensor.shape = {};
  tensor.stacked = {};
  EXPECT_EQ(parts_of(tensor), 1U);
  tensor.stacked = {4};
  EXPECT_EQ(parts_of(tensor), 4U);
}

TEST(Peers, StandInTablesThatBeginAt256Bytes) {
  submission::Expansion expansion;
  EXPECT_TRUE(peer_words(expansion, {}).words.empty());
  expansion.peers.push_back({"x", expr::DType::f32, false, {0, 1}});
  expansion.peers.push_back({"t", expr::DType::f32, true, {3, 2}});
  const PeerWords made = peer_words(expansion, {100, 101, 102, 103});
  EXPECT_THAT(made.begins, testing::ElementsAre(0, 256));
  ASSERT_EQ(made.words.size(), 64U);
  EXPECT_EQ(made.words[0], 100U);
  EXPECT_EQ(made.words[1], 101U);
  EXPECT_EQ(made.words[32], 103U);
  EXPECT_EQ(made.words[33], 102U);
}

}  // namespace
}  // namespace sweep::evaluate
