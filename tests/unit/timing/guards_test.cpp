#include "timing/guards.h"

#include "machine.h"
#include "timing/clocks.h"
#include "timing/shift.h"
#include "timing/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sweep::timing {
namespace {

// Differences of {1, 2, 4} and {2, 5}: 1, 0, -2, 4, 3, 1; their median is 1.
TEST(Shift, RankShiftIsTheMedianDifference) {
  Strata strata;
  strata[0] = {std::vector<double>{1, 2, 4}, {2, 5}};
  const Shift shift = rank_shift(strata, 0.01);
  EXPECT_DOUBLE_EQ(shift.point, 1);
  EXPECT_FALSE(shift.bounded) << "six differences prove nothing at 1%";
}

// Two strata of 10 and 10 have variance 2 * 10 * 10 * 21 / 12 = 350 and 200 differences, of which
// 100 - 1.6449 * 18.708 = 69.2 lie below a bound at 5%. The values 0..9 and 3..12 differ by
// 3 + (j - i): 3 twenty times, 3 - d and 3 + d twice (10 - d) times. Below 3 - d lie
// (9 - d)(10 - d) differences: 56 below 1, 72 below 2, so the 69th is 1.
TEST(Shift, RankBoundIsAnOrderStatistic) {
  Strata strata;
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 10; ++i) {
      strata[s][0].push_back(100 * s + i);
      strata[s][1].push_back(100 * s + i + 3);
    }
  }
  const Shift shift = rank_shift(strata, 0.05);
  EXPECT_DOUBLE_EQ(shift.point, 3);
  ASSERT_TRUE(shift.bounded);
  EXPECT_DOUBLE_EQ(shift.low, 1);
}

// One stratum is Welch's test: means 2 and 6, variances 1 and 4, n = m = 3, so the standard error
// is sqrt(5/3) = 1.29099 with (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 2.94118 degrees of freedom,
// whose 95% quantile is 2.3734.
TEST(Shift, MeanShiftOfOneStratumIsWelchs) {
  Strata strata;
  strata[7] = {std::vector<double>{1, 2, 3}, {4, 6, 8}};
  const Shift shift = mean_shift(strata, 0.05);
  EXPECT_DOUBLE_EQ(shift.point, 4);
  ASSERT_TRUE(shift.bounded);
  EXPECT_NEAR(shift.low, 4 - 2.3734 * 1.29099, 2e-3);
}

// Levels of strata cancel; a stratum without both kinds has no say.
TEST(Shift, ComparesWithinStrataOnly) {
  Strata strata;
  strata[0] = {std::vector<double>{1, 1}, {3, 3}};
  strata[1] = {std::vector<double>{101}, {103}};
  strata[2] = {std::vector<double>{}, {5000}};
  EXPECT_DOUBLE_EQ(rank_shift(strata, 0.01).point, 2);
  EXPECT_DOUBLE_EQ(mean_shift(strata, 0.01).point, 2);
  EXPECT_DOUBLE_EQ(rank_shift({}, 0.01).point, 0);
  EXPECT_DOUBLE_EQ(mean_shift({}, 0.01).point, 0);
}

// 3 + 2 * 3 less sqrt(2^2 + 4^2 + 2 * 0.5 * 2 * 4).
TEST(Shift, ASumAddsDistancesWithTheirCorrelation) {
  const Shift shift{3, 1, true};
  const Shift sum = sum_of(shift, 2, shift, 0.5);
  EXPECT_DOUBLE_EQ(sum.point, 9);
  ASSERT_TRUE(sum.bounded);
  EXPECT_DOUBLE_EQ(sum.low, 9 - std::sqrt(28.0));
  EXPECT_FALSE(sum_of(shift, 2, {3, 1, false}, 0).bounded);
}

// Slows every call that follows the candidate's.
std::vector<Call> polluted(Machine machine,
                           double factor,
                           const std::vector<int>& blocks,
                           std::uint64_t seed) {
  auto calls = session(machine, 5, blocks, seed);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (calls[i - 1].arm == Arm::candidate && calls[i].arm == Arm::seed) {
      calls[i].device_seconds *= factor;
    }
  }
  return calls;
}

TEST(Carryover, ReadsHowMuchSlowerTheSeedGets) {
  const auto calls = polluted({.call_noise = 0.001}, 1.05, {20}, 3);
  const Guard guard = carryover(calls, 1);
  EXPECT_NEAR(guard.point, 0.05, 0.002);
  EXPECT_GT(guard.low, 0.045);
  EXPECT_LT(guard.low, guard.point);
}

TEST(Carryover, ACallThatIsMissingBreaksTheChain) {
  auto calls = polluted({.call_noise = 0.001}, 1.05, {20}, 3);
  const Guard whole = carryover(calls, 1);
  std::erase_if(calls, [](const Call& call) { return call.block % 4 == 1 && call.position == 1; });
  EXPECT_NEAR(carryover(calls, 1).point, whole.point, 0.002);
  EXPECT_EQ(carryover({}, 1).low, 0);
}

// 3% on the seed's calls after the candidate makes the ratio read 1.5 to 2% with nothing gained.
TEST(CarryoverRates, FindsThreePercent) {
  const int found = count_sessions([](std::uint64_t i) {
    return carryover(polluted({}, 1.03, {20, 20, 20}, i), 3).low > 0.01;
  });
  EXPECT_GE(found, at_least(0.98)) << found;
}

// A call after another process's costs each arm 0.6 us more, of 22 us as on an H200.
std::vector<Call> switched(Machine machine,
                           double seconds,
                           const std::vector<int>& blocks,
                           std::uint64_t seed) {
  auto calls = session(machine, 5, blocks, seed);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool other = i > 0 && calls[i - 1].arm != calls[i].arm;
    calls[i].device_seconds = calls[i].device_seconds * 0.22 + (other ? seconds : 0);
  }
  return calls;
}

TEST(Carryover, WhatBothLoseByTheOtherIsNoCarryover) {
  for (const double ratio : {1.0, 2.5, 0.4}) {
    const auto calls = switched({.ratio = ratio, .call_noise = 0.001}, 0.6e-6, {20}, 3);
    EXPECT_NEAR(carryover(calls, 1).point, 0, 0.002) << ratio;
  }
}

TEST(CarryoverRates, AChangeOfProcessAccusesNobody) {
  for (const double ratio : {1.0, 1.5}) {
    const int accused = count_sessions([&](std::uint64_t i) {
      return carryover(switched({.ratio = ratio, .call_noise = 0.02}, 0.6e-6, {20, 20}, i), 2).low >
             0.01;
    });
    EXPECT_LE(accused, at_most(0.001)) << accused << " at " << ratio;
  }
}

// What slows whoever comes next slows the candidate after itself as well, and counts twice.
TEST(Carryover, ASlowerCandidateAfterItselfHidesNothing) {
  auto calls = session({.call_noise = 0.001}, 5, {20}, 3);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    calls[i].device_seconds *= calls[i - 1].arm == Arm::candidate ? 1.05 : 1.0;
  }
  EXPECT_NEAR(carryover(calls, 1).point, 0.1, 0.006);
}

// A fifth of the seed's calls after the candidate take twice as long: no rank sees it.
TEST(CarryoverRates, FindsAMinorityThatIsSlowedMuch) {
  const int found = count_sessions([](std::uint64_t i) {
    auto calls = session({}, 5, {20, 20, 20}, i);
    std::mt19937_64 random(i);
    for (std::size_t k = 1; k < calls.size(); ++k) {
      const bool after = calls[k - 1].arm == Arm::candidate && calls[k].arm == Arm::seed;
      calls[k].device_seconds *= after && random() % 5 == 0 ? 2.0 : 1.0;
    }
    return carryover(calls, 3).low > 0.01;
  });
  EXPECT_GE(found, at_least(0.95)) << found;
}

// A candidate that slows the seed by 8% after it and feigns a loss after the seed, which the guard
// takes off, where `chosen`: it is told how many of the seed's calls lie between it and its last.
std::vector<Call> feigned(double loss, const std::function<bool(int)>& chosen, std::uint64_t seed) {
  auto calls = session({}, 5, {20}, seed);
  int between = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool own = calls[i].arm == Arm::candidate;
    between = calls[i - 1].arm == Arm::candidate ? 0 : between + 1;
    if (!own && calls[i - 1].arm == Arm::candidate) {
      calls[i].device_seconds *= 1.08;
    } else if (own && between > 0 && chosen(between)) {
      calls[i].device_seconds *= loss;
    }
  }
  return calls;
}

// In a little more than half of its calls: ranks take all for slow, and the median of the blocks
// pays for few. The interval lies above 1% in two of five sessions.
TEST(CarryoverRates, ALossInHalfOfTheCallsPaysForHalf) {
  int faster = 0;
  const int found = count_sessions([&](std::uint64_t i) {
    std::mt19937_64 random(i);
    const auto calls = feigned(
        1.08, [&random](int) { return random() % 100 < 56; }, i);
    const Result result = analyse(calls, 1, 0);
    faster += result.ratio.low > 1.01 ? 1 : 0;
    return decide(result, {}) == Decision::rejected_carryover;
  });
  EXPECT_GE(found, at_least(0.98)) << found;
  EXPECT_GT(faster, trials() / 3) << "the attack works, but for the guard: " << faster;
}

// Only where one call of the seed lies between, two fifths of those after the seed: they stand in
// both differences of the pairs.
TEST(CarryoverRates, ALossAtChosenPlacesHidesNothing) {
  int faster = 0;
  const int found = count_sessions([&](std::uint64_t i) {
    const auto calls = feigned(
        1.04, [](int between) { return between == 1; }, i);
    const Result result = analyse(calls, 1, 0);
    faster += result.ratio.low > 1.01 ? 1 : 0;
    return decide(result, {}) == Decision::rejected_carryover;
  });
  EXPECT_GE(found, at_least(0.98)) << found;
  EXPECT_GE(faster, at_least(0.9)) << "the attack works, but for the guard: " << faster;
}

TEST(CarryoverRates, HonestKernelsAreNotAccused) {
  const std::vector<Machine> machines = {
      {},
      {.ratio = 1.4, .call_noise = 0.03, .process_noise = 0.01},
      {.ratio = 0.7, .drift = 0.04},
      {.content = [](std::mt19937_64& r) { return r() % 2 == 0 ? 1.3 : 2.1; }},
      {.extra = [](Arm, int n) { return n % 37 == 0 ? 2.0 : 1.0; }},
      {.extra = [](Arm arm, int n) { return arm == Arm::candidate && n % 5 == 0 ? 4.0 : 1.0; }}};
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const int accused = count_sessions([&](std::uint64_t i) {
      return carryover(session(machines[m], 5, {20, 20}, i), 2).low > 0.01;
    });
    EXPECT_LE(accused, at_most(0.001)) << accused << " of machine " << m;
  }
}

// Host times of a call: 150 us above its events, scattered by 5 us, and `hidden` for the candidate.
std::vector<Call> with_host(double hidden, std::uint64_t seed) {
  auto calls = session({}, 5, {20}, seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (Call& call : calls) {
    call.host_seconds = call.device_seconds + 150e-6 + 5e-6 * normal(random) +
                        (call.arm == Arm::candidate ? hidden : 0);
  }
  return calls;
}

TEST(HiddenTime, IsWhatTheHostSeesMoreOfTheCandidate) {
  const std::vector<int> one = {1};
  const HiddenTime hidden = hidden_time(with_host(40e-6, 1), one);
  EXPECT_NEAR(hidden.seconds.point, 40e-6, 1e-6);
  EXPECT_NEAR(hidden.limit, 17.2e-6, 0.3e-6) << "15% of 100 us and one launch";
  EXPECT_TRUE(hidden.found());
  EXPECT_FALSE(hidden_time(with_host(5e-6, 1), one).found());
  EXPECT_FALSE(hidden_time(with_host(-40e-6, 1), one).found()) << "the seed's own overhead";
}

TEST(HiddenTime, LaunchesTakeTheHostTime) {
  const std::vector<int> many = {30};
  EXPECT_FALSE(hidden_time(with_host(40e-6, 1), many).found());
}

TEST(HiddenTime, HonestKernelsAreNotAccused) {
  const std::vector<int> one = {1};
  EXPECT_EQ(count_sessions(
                [&](std::uint64_t i) { return hidden_time(with_host(10e-6, i), one).found(); }),
            0);
}

// Handing over costs both arms 25 us a call here, a little more in each replicate.
std::vector<ClockReading> readings(double seed, double candidate, double hidden) {
  std::vector<ClockReading> list;
  for (int r = 0; r < 5; ++r) {
    const double handing = 25e-6 + 1e-7 * r;
    list.push_back(
        {seed, candidate, seed + handing, candidate + handing + hidden + 2e-8 * (r % 2)});
  }
  return list;
}

HiddenTime gap(const std::vector<ClockReading>& readings, int launches = 1) {
  return slope_gap(std::span(&readings, 1), std::span(&launches, 1));
}

TEST(Clocks, AnHonestGainIsNoGap) {
  for (const double gain : {1.0, 2.0, 20.0}) {
    const HiddenTime found = gap(readings(20e-6, 20e-6 / gain, 0));
    EXPECT_FALSE(found.found());
    EXPECT_NEAR(found.seconds.point, 0, 1e-7);
    EXPECT_DOUBLE_EQ(found.limit, 17e-6);
  }
}

TEST(Clocks, EventsThatLeaveTimeOutAreFound) {
  EXPECT_FALSE(gap(readings(40e-6, 20e-6, 16e-6)).found());
  const HiddenTime found = gap(readings(40e-6, 20e-6, 18e-6));
  EXPECT_TRUE(found.found());
  EXPECT_NEAR(found.seconds.point, 18e-6, 1e-7);
  EXPECT_FALSE(gap(readings(40e-6, 20e-6, 18e-6), 2).found()) << "2 us for each launch";
  EXPECT_FALSE(gap(readings(1e-2, 1e-2, 1.4e-3)).found()) << "15%";
  EXPECT_TRUE(gap(readings(1e-2, 1e-2, 1.6e-3)).found());
  EXPECT_FALSE(gap(readings(1e-2, 1e-2, -5e-3)).found()) << "events that say too much";
}

TEST(Clocks, TheWorstShapeCounts) {
  const std::vector<std::vector<ClockReading>> shapes{
      readings(1e-4, 1e-4, 0), readings(1e-4, 1e-4, 40e-6), {}};
  const std::vector<int> launches{1, 1, 1};
  const HiddenTime found = slope_gap(shapes, launches);
  EXPECT_TRUE(found.found());
  EXPECT_NEAR(found.seconds.point, 40e-6, 1e-7);
}

TEST(Clocks, DoubtIsNoGap) {
  std::vector<ClockReading> noisy = readings(2e-4, 2e-4, 0);
  for (std::size_t r = 0; r < noisy.size(); r += 2) {
    noisy[r].candidate_slope += 4e-4;
  }
  EXPECT_GT(gap(noisy).seconds.point, gap(noisy).limit);
  EXPECT_FALSE(gap(noisy).found());
  EXPECT_FALSE(gap({readings(2e-4, 2e-4, 1e-3).front()}).found()) << "one replicate";
  EXPECT_FALSE(slope_gap({}, {}).found());
}

TEST(Clocks, AllowanceIsFifteenMicrosecondsOrPercent) {
  EXPECT_DOUBLE_EQ(clock_allowance(1e-5), 15e-6);
  EXPECT_DOUBLE_EQ(clock_allowance(1e-3), 150e-6);
}

}  // namespace
}  // namespace sweep::timing
