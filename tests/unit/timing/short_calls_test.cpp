#include "timing/short_calls.h"

#include "util/error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace sweep::timing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST(GraphSize, IsHalfAMillisecondOfTheShorterCall) {
  EXPECT_EQ(graph_size(5e-6, 5e-6, kMiB).calls, 100);
  EXPECT_EQ(graph_size(99e-6, 10e-6, kMiB).calls, 50);
  EXPECT_EQ(graph_size(3e-6, 3.1e-6, kMiB).calls, 167);
  EXPECT_EQ(graph_size(5e-6, 5e-6, kMiB).reason, "");
}

TEST(GraphSize, IsBoundedByCallsAndMemory) {
  EXPECT_EQ(graph_size(1.5e-6, 1.5e-6, 1).calls, 256);
  EXPECT_EQ(graph_size(1e-12, 1e-12, 0).calls, 256);
  EXPECT_EQ(graph_size(10e-6, 10e-6, 64 * kMiB).calls, 16);
  EXPECT_EQ(graph_size(10e-6, 10e-6, 128 * kMiB).calls, 8);
  EXPECT_EQ(graph_size(10e-6, 10e-6, 129 * kMiB).calls, 0);
  EXPECT_EQ(graph_size(10e-6, 10e-6, 129 * kMiB).reason, "buffers of 8 calls take more than 1 GiB");
}

TEST(GraphSize, NoGraphForCallsThatAreLongOrWereNotTimed) {
  EXPECT_EQ(graph_size(20e-6, 25e-6, kMiB).reason, "a call takes 20 us or more");
  EXPECT_EQ(graph_size(100e-6, 10e-6, kMiB).reason, "the slower arm's call takes 100 us or more");
  for (const double none : {0.0, -1.0, std::nan("")}) {
    EXPECT_EQ(graph_size(none, none, kMiB).calls, 0) << none;
  }
}

// Two replicates of two blocks ABBA and BAAB; a graph of 50 calls. The candidate takes exp(-0.2)
// and exp(-0.1) of the seed's 500 us in the replicates: their mean is 0.15, their sd 0.1 / sqrt(2),
// so the half-width t(0.975, 1) * sd / sqrt(2) = 12.7062 * 0.05.
TEST(Throughput, IsStudentsIntervalOverTheReplicatesOfWholeGraphs) {
  std::vector<Call> graphs;
  constexpr std::array<std::array<Arm, 4>, 2> kOrders{
      {{Arm::seed, Arm::candidate, Arm::candidate, Arm::seed},
       {Arm::candidate, Arm::seed, Arm::seed, Arm::candidate}}};
  for (int replicate = 0; replicate < 2; ++replicate) {
    for (int block = 0; block < 2; ++block) {
      for (int position = 0; position < 4; ++position) {
        const Arm arm =
            kOrders.at(static_cast<std::size_t>(block)).at(static_cast<std::size_t>(position));
        const double gain = arm == Arm::candidate ? (replicate == 0 ? -0.2 : -0.1) : 0;
        graphs.push_back({replicate, 0, block, position, arm, 500e-6 * std::exp(gain), 1e-3});
      }
    }
  }
  const Throughput found = throughput(graphs, 50);
  EXPECT_NEAR(found.seed_seconds, 10e-6, 1e-15);
  EXPECT_NEAR(found.candidate_seconds, 10e-6 * (std::exp(-0.2) + std::exp(-0.1)) / 2, 1e-15);
  EXPECT_NEAR(std::log(found.ratio.point), 0.15, 1e-12);
  EXPECT_NEAR(std::log(found.ratio.high) - 0.15, 12.706204736 * 0.05, 1e-6);
  EXPECT_NEAR(0.15 - std::log(found.ratio.low), 12.706204736 * 0.05, 1e-6);
  EXPECT_THROW((void)throughput(graphs, 0), util::InfraError);
  EXPECT_THROW((void)throughput({}, 50), util::InfraError);
}

}  // namespace
}  // namespace sweep::timing
