#include "machine.h"
#include "timing/guards.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sweep::timing {
namespace {

constexpr double kLimit = 0.03;

bool found(const Machine& machine,
           const std::vector<int>& blocks,
           std::uint64_t seed,
           int replicates = 5) {
  return drift(session(machine, replicates, blocks, seed), static_cast<int>(blocks.size())).low >
         kLimit;
}

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

// Three calls of the seed at 0, 1/2 and 1 of a replicate: slopes 0.04, 0.02 (twice the step of
// 0.01) and 0.03.
TEST(Drift, IsTheMedianSlopeOverAReplicate) {
  const std::array<double, 3> logs = {0.0, 0.02, 0.03};
  std::vector<Call> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back({0, 0, i, 0, Arm::seed, std::exp(logs.at(static_cast<std::size_t>(i))), 0});
  }
  const Guard guard = drift(calls, 1);
  EXPECT_NEAR(guard.point, std::expm1(0.03), 1e-12);
  EXPECT_EQ(guard.low, 0) << "three calls prove nothing at 1%";
}

// Ten calls on a line in one replicate: Var S = 10 * 9 * 25 / 18 = 125, and of 45 slopes
// (45 - 2.3263 * 11.180) / 2 = 9.49 lie outside, so the ninth smallest bounds; all are equal.
TEST(Drift, BoundIsAnOrderStatisticOfTheSlopes) {
  std::vector<Call> calls;
  for (int i = 0; i < 10; ++i) {
    calls.push_back({0, 0, i, 0, Arm::seed, std::exp(0.05 * i / 9), 0});
  }
  EXPECT_NEAR(drift(calls, 1).point, std::expm1(0.05), 1e-9);
  EXPECT_NEAR(drift(calls, 1).low, std::expm1(0.05), 1e-9);
  for (Call& call : calls) {
    call.device_seconds = 1 / call.device_seconds;
  }
  EXPECT_NEAR(drift(calls, 1).point, -std::expm1(-0.05), 1e-9);
  EXPECT_NEAR(drift(calls, 1).low, -std::expm1(-0.05), 1e-9);
}

// Two shapes of 3 and 1 blocks in 15 replicates, and the seed's second call of a block 0.2% faster:
// between two neighbours of 16 calls that would be a slope of 3% and more.
TEST(Drift, DoesNotSetCallsOfOneBlockAgainstEachOther) {
  std::vector<Call> calls;
  for (int replicate = 0; replicate < 15; ++replicate) {
    for (int k = 0; k < 4; ++k) {
      const int shape = k == 3 ? 1 : 0, block = k == 3 ? 0 : k;
      const bool seed_first = (replicate + k) % 2 == 0;
      int seeds = 0;
      for (int position = 0; position < 4; ++position) {
        const bool outer = position == 0 || position == 3;
        const Arm arm = outer == seed_first ? Arm::seed : Arm::candidate;
        const double seconds = arm == Arm::seed && ++seeds == 2 ? 0.998e-3 : 1e-3;
        calls.push_back({replicate, shape, block, position, arm, seconds, 0});
      }
    }
  }
  EXPECT_NEAR(drift(calls, 2).point, 0, 1e-9);
  EXPECT_EQ(drift(calls, 2).low, 0);
}

TEST(Drift, LooksAtTheSeedOnly) {
  const auto candidate_heats_up = [](Arm arm, int n) {
    return arm == Arm::candidate ? 1 + 0.01 * n : 1.0;
  };
  const auto calls = session({.call_noise = 0.002, .extra = candidate_heats_up}, 5, {20}, 3);
  EXPECT_LT(drift(calls, 1).low, 0.001);
}

TEST(Drift, OfNoCallsIsNone) {
  EXPECT_EQ(drift({}, 1).point, 0);
  const std::vector<Call> broken = {{0, 0, 0, 0, Arm::seed, 0, 0}, {0, 0, 0, 3, Arm::seed, NAN, 0}};
  EXPECT_EQ(drift(broken, 1).point, 0);
}

TEST(DriftRates, FindsARampOfFourPercent) {
  const Machine machine{.drift = 0.04};
  const int one = count_sessions([&](auto i) { return found(machine, {20}, i); });
  EXPECT_GE(one, at_least(0.92)) << one;
  const int three = count_sessions([&](auto i) { return found(machine, {20, 20, 20}, i); });
  EXPECT_GE(three, at_least(0.98)) << three;
}

TEST(DriftRates, FindsAFallingRampToo) {
  const Machine machine{.drift = -0.04};
  const int count = count_sessions([&](auto i) { return found(machine, {20}, i); });
  EXPECT_GE(count, at_least(0.95)) << count;
}

// At the limit itself an alarm is an error of the bound: 1%.
TEST(DriftRates, AtTheLimitErrsInOnePercent) {
  const Machine machine{.drift = kLimit};
  const int count = count_sessions([&](auto i) { return found(machine, {20, 20}, i); });
  EXPECT_LE(count, at_most(0.01)) << count;
}

// Contents that cost between 0.75 and 1.25, as uneven graphs do.
TEST(DriftRates, ContentsAreNoDrift) {
  const Machine machine{.content = [](std::mt19937_64& r) { return uniform(r, 0.75, 1.25); }};
  for (const std::vector<int>& blocks : {std::vector<int>{20}, {20, 20, 20}, {4, 4}}) {
    const int count = count_sessions([&](auto i) { return found(machine, blocks, i); });
    EXPECT_LE(count, 0.01 * trials()) << count << " with " << blocks.size() << " shapes";
  }
}

// Two kinds of content, as an H200 timed them: 130 and 210 us.
TEST(DriftRates, TwoKindsOfContentAreNoDrift) {
  const Machine machine{.content = [](std::mt19937_64& r) { return r() % 2 == 0 ? 1.3 : 2.1; }};
  const int count = count_sessions([&](auto i) { return found(machine, {20, 20}, i); });
  EXPECT_LE(count, 0.01 * trials()) << count;
  const int quick = count_sessions([&](auto i) { return found(machine, {20}, i, 1); });
  EXPECT_LE(quick, 0.01 * trials()) << quick;
}

// Kernels of 12 us scatter by 3%, and 5% of their calls by far more.
TEST(DriftRates, NoiseIsNoDrift) {
  std::mt19937_64 random(5);
  const auto spikes = [&random](Arm, int) { return random() % 20 == 0 ? 1.5 : 1.0; };
  const Machine machine{.call_noise = 0.03, .extra = spikes};
  const int count = count_sessions([&](auto i) { return found(machine, {20}, i); });
  EXPECT_LE(count, at_most(0.001)) << count;
}

// A replicate's own level is no drift.
TEST(DriftRates, LevelsOfReplicatesAreNoDrift) {
  auto calls = session({.call_noise = 0.002}, 5, {20}, 9);
  for (Call& call : calls) {
    call.device_seconds *= call.replicate >= 3 ? 0.9 : 1.0;
  }
  EXPECT_LT(drift(calls, 1).point, 0.002);
}

}  // namespace
}  // namespace sweep::timing
