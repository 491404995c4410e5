#include "timing/statistics.h"

#include "machine.h"
#include "util/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sweep::timing {
namespace {

// Blocks of a shape in a replicate whose log ratios are these.
void add_blocks(std::vector<Call>& calls,
                int replicate,
                int shape,
                const std::vector<double>& log_ratios) {
  int number = 0;
  for (const double d : log_ratios) {
    for (int position = 0; position < 4; ++position) {
      const Arm arm = position == 0 || position == 3 ? Arm::seed : Arm::candidate;
      const double seconds = arm == Arm::seed ? 1e-4 * std::exp(d) : 1e-4;
      calls.push_back({replicate, shape, number, position, arm, seconds, seconds});
    }
    ++number;
  }
}

// Medians 0.02 and 0.04: mean 0.03, sd 0.01 sqrt(2), and t(0.975, 1) = 12.7062 times the standard
// error 0.01 is the half-width 0.127062. The first replicate's blocks lie 0.01, 0 and 0.04 from
// their median, the second's 0.01, 0.01 and 0: 1.4826 * 1.2533 * 0.01 / sqrt(3) each.
TEST(Statistics, ByHand) {
  std::vector<Call> calls;
  add_blocks(calls, 0, 0, {0.01, 0.06, 0.02});
  add_blocks(calls, 1, 0, {0.03, 0.05, 0.04});
  const Result result = analyse(calls, 1);
  EXPECT_NEAR(std::log(result.ratio.point), 0.03, 1e-9);
  EXPECT_NEAR(std::log(result.ratio.low), 0.03 - 0.127062, 1e-6);
  EXPECT_NEAR(std::log(result.ratio.high), 0.03 + 0.127062, 1e-6);
  EXPECT_NEAR(result.replicate_sd, 0.0141421, 1e-6);
  EXPECT_NEAR(result.block_error, 1.4826 * 1.2533 * 0.01 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(result.shapes[0].seed_seconds, 1e-4 * (std::exp(0.03) + std::exp(0.04)) / 2, 1e-15);
  EXPECT_NEAR(result.shapes[0].candidate_seconds, 1e-4, 1e-15);
}

// The geometric mean is taken within a replicate, then the interval over replicates: shapes at 0.02
// and 0.06 give 0.04 and, in the second, 0.04 and 0.08 give 0.06.
TEST(Statistics, ShapesAreAveragedWithinAReplicate) {
  std::vector<Call> calls;
  for (const int r : {0, 1}) {
    add_blocks(calls, r, 0, {0.02 + 0.02 * r});
    add_blocks(calls, r, 1, {0.06 + 0.02 * r});
  }
  const Result result = analyse(calls, 2, 0);
  EXPECT_NEAR(std::log(result.ratio.point), 0.05, 1e-9);
  EXPECT_NEAR(std::log(result.ratio.high), 0.05 + 0.127062, 1e-6);
}

// Two replicates without scatter inside: a resample is both of one, or one of each, so the 2.5% and
// 97.5% quantiles are the two values.
TEST(Statistics, BootstrapResamplesReplicates) {
  std::vector<Call> calls;
  add_blocks(calls, 0, 0, {0.02, 0.02});
  add_blocks(calls, 1, 0, {0.04, 0.04});
  const Result result = analyse(calls, 1);
  EXPECT_NEAR(std::log(result.bootstrap.low), 0.02, 1e-9);
  EXPECT_NEAR(std::log(result.bootstrap.high), 0.04, 1e-9);
}

// Seed times 1, 1, 1, 1 and candidate times 1, 1, 1, 5 (all 100 us): means 1 and 2, medians 1
// and 1.
TEST(Statistics, UnevenTimesCompareByMeans) {
  std::vector<Call> calls;
  add_blocks(calls, 0, 0, {0, 0});
  calls[6].device_seconds = 5e-4;
  const Result result = analyse(calls, 1, 0);
  EXPECT_TRUE(result.uneven);
  EXPECT_NEAR(result.ratio.point, 0.5, 1e-12);
  calls[6].device_seconds = 1.19e-4;  // mean / median 1.0475
  EXPECT_FALSE(analyse(calls, 1, 0).uneven);
}

TEST(Statistics, RecoversARatio) {
  const Result result = analyse(session({.ratio = 1.5}, 5, {20, 20, 20}, 7), 3);
  EXPECT_NEAR(result.ratio.point, 1.5, 0.01);
  EXPECT_LT(result.ratio.low, result.ratio.point);
  EXPECT_GT(result.ratio.high, result.ratio.point);
  EXPECT_EQ(result.blocks, 300);
  EXPECT_EQ(result.replicates, 5);
  EXPECT_NEAR(result.shapes[2].candidate_seconds, 3e-4, 3e-6);
  EXPECT_NEAR(result.bootstrap.point, result.ratio.point, 1e-12);
  EXPECT_FALSE(result.uneven);
}

TEST(Statistics, LinearDriftCancelsWithinBlocks) {
  const Result result =
      analyse(session({.ratio = 1.0, .call_noise = 1e-6, .drift = 0.5}, 5, {20}, 3), 1);
  EXPECT_NEAR(result.ratio.point, 1.0, 1e-3);
  EXPECT_GT(result.drift.low, 0.03);
  EXPECT_EQ(decide(result, {}), Decision::unstable);
}

// 95% intervals must hold the truth about 95% of the time: 2000 sessions have a standard error of
// 0.5%.
TEST(Statistics, IntervalCoversTheTruth) {
  int covered = 0, faster = 0;
  constexpr int kSessions = 2000;
  for (int i = 0; i < kSessions; ++i) {
    const auto calls = session({.ratio = 1.02, .call_noise = 0.02, .process_noise = 0.01},
                               5,
                               {6},
                               1000U + static_cast<unsigned>(i));
    Result result = analyse(calls, 1, 0);
    covered += result.ratio.low <= 1.02 && 1.02 <= result.ratio.high ? 1 : 0;
    result.drift = {};
    faster += decide(result, {.margin = 0.02}) == Decision::faster ? 1 : 0;
  }
  EXPECT_GT(covered, kSessions * 0.93);
  EXPECT_LT(covered, kSessions * 0.97);
  // At the border of the margin a false FASTER has at most 2.5%.
  EXPECT_LT(faster, kSessions * 0.04);
}

TEST(Statistics, ASlowMinorityDoesNotHideBehindTheMedian) {
  const auto extra = [](Arm arm, int n) {
    return arm == Arm::candidate ? (n % 11 < 2 ? 6.0 : 0.8) : 1.0;
  };
  const Result result = analyse(session({.extra = extra}, 5, {20}, 11), 1);
  EXPECT_TRUE(result.uneven);
  EXPECT_LT(result.ratio.high, 1.0);
  EXPECT_EQ(decide(result, {}), Decision::slower);
}

TEST(Statistics, OneReplicateUsesItsBlocks) {
  const Result result = analyse(session({.ratio = 2}, 1, {20, 20}, 5), 2);
  EXPECT_TRUE(std::isfinite(result.ratio.high));
  EXPECT_NEAR(result.ratio.point, 2, 0.05);
}

TEST(Statistics, IncompleteBlocksAreDiscardedWhole) {
  auto calls = session({.ratio = 1.2}, 5, {20}, 5);
  for (std::size_t i = 0; i < calls.size(); i += 13) {
    calls[i].device_seconds = 0;
  }
  const Result result = analyse(calls, 1);
  EXPECT_GT(result.discarded, 20);
  EXPECT_EQ(result.blocks + result.discarded, 100);
  EXPECT_EQ(decide(result, {}), Decision::unstable);
}

// One of the seed's calls takes a hundred times as long (seen on an H200: 4.9 ms instead of 49 us).
TEST(Statistics, ADisturbedSeedCallCostsItsBlockOnly) {
  auto calls = session({.ratio = 1.0}, 5, {20}, 5);
  const auto hit = std::ranges::find_if(
      calls, [](const Call& call) { return call.replicate == 3 && call.arm == Arm::seed; });
  hit->device_seconds *= 100;
  const Result result = analyse(calls, 1);
  EXPECT_EQ(result.discarded, 1);
  EXPECT_EQ(result.blocks, 99);
  EXPECT_FALSE(result.uneven);
  EXPECT_NEAR(result.ratio.point, 1.0, 0.01);
  EXPECT_LT(result.ratio.high / result.ratio.low, 1.05);
}

// A machine that holds up one call in twenty, of either arm, has no favourite.
TEST(Statistics, WhereBothArmsAreHeldUpNoneIsSlowerForIt) {
  constexpr int kSessions = 400;
  int below = 0, slower = 0, slower_one_sided = 0;
  for (int i = 0; i < kSessions; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    std::bernoulli_distribution held_up(0.05);
    auto calls = session({.ratio = 1.0}, 5, {20}, 5000U + static_cast<unsigned>(i));
    for (Call& call : calls) {
      call.device_seconds *= held_up(random) ? 8 : 1;
    }
    const Rule rule{.guarded = false, .may_say_faster = false};
    const Result both = analyse(calls, 1, 0, {}, Disturbed::keep);
    below += both.ratio.point < 1 ? 1 : 0;
    slower += decide(both, rule) == Decision::slower ? 1 : 0;
    slower_one_sided += decide(analyse(calls, 1, 0), rule) == Decision::slower ? 1 : 0;
  }
  EXPECT_NEAR(below, kSessions / 2, 40);  // four standard deviations
  EXPECT_LE(slower,
            kSessions / 20);  // 2.5% is nominal; the mean of five such replicates is not normal
  EXPECT_GT(slower_one_sided, kSessions / 10) << "what keeping them is for";
}

// The candidate's own outliers stay: they are its doing.
TEST(Statistics, ACandidatesSlowCallsAreNotDiscarded) {
  const auto extra = [](Arm arm, int n) {
    return arm == Arm::candidate && n % 10 == 0 ? 50.0 : 1.0;
  };
  const Result result = analyse(session({.extra = extra}, 5, {20}, 11), 1);
  EXPECT_EQ(result.discarded, 0);
  EXPECT_TRUE(result.uneven);
  EXPECT_EQ(decide(result, {}), Decision::slower);
}

// Seen on an H200: a pair's level differs by up to 5% from the next pair's, both arms alike.
TEST(Statistics, LevelsOfReplicatesAreNoDrift) {
  auto calls = session({.ratio = 1.0, .call_noise = 0.002}, 5, {20}, 9);
  for (Call& call : calls) {
    call.device_seconds *= call.replicate >= 3 ? 0.95 : 1.0;
  }
  const Result result = analyse(calls, 1);
  EXPECT_LT(result.drift.point, 0.01);
  EXPECT_EQ(decide(result, {}), Decision::equivalent);
}

TEST(Statistics, AShapeWithoutBlocksIsAnError) {
  EXPECT_THROW((void)analyse(session({}, 2, {4, 0}, 5), 2), util::InfraError);
  EXPECT_THROW((void)analyse({}, 1), util::InfraError);
}

Result with(double low, double high) {
  Result result;
  result.ratio = {(low + high) / 2, low, high};
  result.shapes.push_back({1, 1, result.ratio, false, 10});
  result.blocks = 10;
  return result;
}

TEST(Decision, FollowsTheTable) {
  EXPECT_EQ(decide(with(1.02, 1.10), {}), Decision::faster);
  EXPECT_EQ(decide(with(1.005, 1.10), {}), Decision::inconclusive);
  EXPECT_EQ(decide(with(0.995, 1.005), {}), Decision::equivalent);
  EXPECT_EQ(decide(with(0.80, 0.90), {}), Decision::slower);
  EXPECT_EQ(decide(with(0.90, 1.10), {}), Decision::inconclusive);
}

TEST(Decision, OneSlowerShapeForbidsFaster) {
  Result result = with(1.2, 1.3);
  result.shapes.push_back({1, 1, {0.8, 0.7, 0.9}, false, 10});
  EXPECT_EQ(decide(result, {}), Decision::inconclusive);
}

TEST(Decision, QuickLooksNeverSayFaster) {
  EXPECT_EQ(decide(with(1.5, 1.6), {.may_say_faster = false}), Decision::inconclusive);
  EXPECT_EQ(decide(with(0.5, 0.6), {.may_say_faster = false}), Decision::slower);
}

TEST(Decision, ReplicatesForTarget) {
  EXPECT_EQ(replicates_for(0.0001, 0.005), 5);
  EXPECT_EQ(replicates_for(0.5, 0.005), 15);
  EXPECT_GT(replicates_for(0.007, 0.005), 5);
  // 2.776445 * 0.004 / sqrt(5) = 0.00497; 0.0041 gives 0.00509, and with 6 replicates 0.00430.
  EXPECT_EQ(replicates_for(0.0040, 0.005), 5);
  EXPECT_EQ(replicates_for(0.0041, 0.005), 6);
  EXPECT_DOUBLE_EQ(margin(0), 0.01);
  EXPECT_DOUBLE_EQ(margin(0.02), 0.04);
}

TEST(Decision, APilotCountsTheLargerScatter) {
  Result pilot;
  pilot.shapes.resize(1);
  pilot.shapes[0].seed_seconds = 20e-6;  // 0.1 us of it: 0.5%
  pilot.replicate_sd = 0.0080;           // t(0.975, 11) * 0.008 / sqrt(12) = 0.00508, 13: 0.00483
  EXPECT_EQ(replicates_after(pilot), 13);
  pilot.block_error = 0.5;
  EXPECT_EQ(replicates_after(pilot), 15);
}

TEST(Decision, APilotAllowsForWhatProcessesDifferBy) {
  Result pilot;
  pilot.shapes.resize(1);
  pilot.shapes[0].seed_seconds = 25e-6;   // 0.4% of it; target 0.5% * (25 / 20)^-0.5693 = 0.440%
  EXPECT_EQ(replicates_after(pilot), 6);  // t(0.975, 5) * 0.4% / sqrt(6) = 0.420%; of 5: 0.497%
  pilot.block_error = 0.003;              // 0.5%; of 7: 0.462%, of 8: 0.418%
  EXPECT_EQ(replicates_after(pilot), 8);
  pilot.shapes[0].seed_seconds = 1;
  pilot.block_error = 0;
  EXPECT_EQ(replicates_after(pilot), 5);
}

TEST(Decision, ATargetOfHalfWidthFollowsTheCall) {
  EXPECT_DOUBLE_EQ(target_half_width(3e-6), 0.005);
  EXPECT_DOUBLE_EQ(target_half_width(20e-6), 0.005);
  EXPECT_DOUBLE_EQ(target_half_width(100e-6), 0.002);
  EXPECT_DOUBLE_EQ(target_half_width(1), 0.002);
  // Half the way in logarithms: sqrt(20 * 100) us, sqrt(0.5% * 0.2%).
  EXPECT_NEAR(target_half_width(44.7213595e-6), 0.00316227766, 1e-11);
}

TEST(Decision, GuardsDecideByTheirLowerBounds) {
  Result result = with(1.2, 1.3);
  result.drift = {0.2, 0.029};
  result.carryover = {0.2, 0.009};
  result.hidden = {{1e-3, 14e-6}, 15e-6};
  EXPECT_EQ(decide(result, {}), Decision::faster);
  result.drift.low = 0.031;
  EXPECT_EQ(decide(result, {}), Decision::unstable);
  result.carryover.low = 0.011;
  EXPECT_EQ(decide(result, {}), Decision::rejected_carryover);
  EXPECT_EQ(decide(result, {.margin = 0.02}), Decision::unstable);
  result.hidden.seconds.low = 16e-6;
  EXPECT_EQ(decide(result, {}), Decision::rejected_timer);
  EXPECT_EQ(decide(result, {.guarded = false}), Decision::inconclusive) << "it drifts";
  EXPECT_EQ(decide(result, {.drift_limit = 1, .guarded = false}), Decision::faster);
  Result slow = result;
  slow.drift = {0.2, 0.1};
  slow.ratio = {0.85, 0.84, 0.86};
  EXPECT_EQ(decide(slow, {.guarded = false}), Decision::inconclusive) << "the drift may be all";
  slow.ratio = {0.5, 0.4, 0.6};
  EXPECT_EQ(decide(slow, {.guarded = false}), Decision::slower);
  result.hidden.seconds.low = 0;
  EXPECT_EQ(decide(result, {.margin = 0.02}), Decision::unstable);
  result.slope = {{1e-3, 16e-6}, 15e-6};
  EXPECT_EQ(decide(result, {.margin = 0.02}), Decision::rejected_timer) << "by the judge's clock";
}

TEST(Decision, AWinIsPracticalWhenItIsConfirmed) {
  EXPECT_TRUE(practical_win({1.05, 1.04, 1.06}, {1.03, 1.0, 1.06}));
  EXPECT_FALSE(practical_win({1.049, 1.04, 1.06}, {1.05, 1.04, 1.06}));
  EXPECT_FALSE(practical_win({1.06, 1.05, 1.07}, {1.05, 0.99, 1.11}));
}

TEST(Decision, SpecialisedIsBelowFourFifthsOfTheVisible) {
  EXPECT_TRUE(specialised({1.59, 1.5, 1.7}, {2.0, 1.9, 2.1}));
  EXPECT_FALSE(specialised({1.61, 1.5, 1.7}, {2.0, 1.9, 2.1}));
}

}  // namespace
}  // namespace sweep::timing
