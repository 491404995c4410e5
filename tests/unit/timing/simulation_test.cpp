#include "machine.h"
#include "timing/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

// What the whole statistic does on simulated devices.
namespace sweep::timing {
namespace {

struct Named {
  const char* name;
  Machine machine;
};

// Three kinds of noise: a quiet device, an ordinary one, and kernels of a few microseconds.
std::vector<Named> devices(double ratio) {
  const auto make = [ratio](double noise, double process, double drift, double second, double odd) {
    return Machine{.ratio = ratio,
                   .call_noise = noise,
                   .correlation = 0.3,
                   .process_noise = process,
                   .drift = drift,
                   .walk = drift / 2,
                   .second = second,
                   .outliers = odd};
  };
  return {{"quiet", make(0.003, 0.0005, 0.002, 0, 0.002)},
          {"typical", make(0.01, 0.002, 0.02, 0.003, 0.01)},
          {"short", make(0.03, 0.01, 0.02, 0.005, 0.02)}};
}

Result judged(const Machine& machine, std::uint64_t seed, const std::vector<int>& blocks = {20}) {
  return analyse(session(machine, 5, blocks, seed), static_cast<int>(blocks.size()), 0);
}

int decided(const Machine& machine, Decision decision, const std::vector<int>& blocks = {20}) {
  return count_sessions(
      [&](std::uint64_t i) { return decide(judged(machine, i, blocks), {}) == decision; });
}

TEST(Simulation, IntervalsCoverTheTruthIn95Percent) {
  for (const auto& [name, machine] : devices(1.02)) {
    for (const std::vector<int>& blocks : {std::vector<int>{20}, {20, 7, 4}}) {
      const int covered = count_sessions([&](std::uint64_t i) {
        const Result result = judged(machine, i, blocks);
        return result.ratio.low <= 1.02 && 1.02 <= result.ratio.high;
      });
      EXPECT_GE(covered, at_least(0.95)) << name << ' ' << covered;
      EXPECT_LE(covered, at_most(0.95)) << name << ' ' << covered;
    }
  }
}

TEST(Simulation, EqualKernelsAreHardlyEverFasterOrSlowerAndStable) {
  for (const auto& [name, machine] : devices(1)) {
    int unstable = 0;
    const int wrong = count_sessions([&](std::uint64_t i) {
      const Decision decision = decide(judged(machine, i), {});
      unstable += decision == Decision::unstable ? 1 : 0;
      return decision == Decision::faster || decision == Decision::slower;
    });
    EXPECT_LE(wrong, at_most(0.005)) << name << ' ' << wrong;
    EXPECT_LE(unstable, at_most(0.01)) << name << ' ' << unstable;
  }
}

// A gain of exactly the margin is no gain; the interval is above it in 2.5%.
TEST(Simulation, AtTheMarginFasterIsSaidInTwoAndAHalfPercent) {
  for (const auto& [name, machine] : devices(1.01)) {
    const int faster = decided(machine, Decision::faster);
    EXPECT_LE(faster, at_most(0.025)) << name << ' ' << faster;
  }
}

TEST(Simulation, ThreePercentAreFound) {
  const auto all = devices(1.03);
  EXPECT_GE(decided(all[0].machine, Decision::faster), at_least(0.995));
  EXPECT_GE(decided(all[1].machine, Decision::faster), at_least(0.95));
  const auto slower = devices(1 / 1.03);
  EXPECT_GE(decided(slower[0].machine, Decision::slower), at_least(0.995));
  EXPECT_GE(decided(slower[1].machine, Decision::slower), at_least(0.95));
}

// A pilot fixes the number of replicates; the verdict's own calls do not stop it.
TEST(Simulation, APilotKeepsTheErrorRate) {
  for (const auto& [name, machine] : devices(1.02)) {
    int met = 0, most = 0, least = 15;
    const int covered = count_sessions([&](std::uint64_t i) {
      const Result pilot = analyse(session(machine, 2, {20}, i), 1, 0);
      const int replicates = replicates_after(pilot);
      const Result result = analyse(session(machine, replicates, {20}, i, 2), 1, 0);
      met += result.ratio.high / result.ratio.point - 1 <= target_half_width(100e-6) ? 1 : 0;
      most = std::max(most, replicates);
      least = std::min(least, replicates);
      return result.ratio.low <= 1.02 && 1.02 <= result.ratio.high;
    });
    EXPECT_GE(covered, at_least(0.95)) << name << ' ' << covered;
    EXPECT_GE(least, 5);
    EXPECT_LE(most, 15);
    if (std::string_view(name) == "quiet") {
      EXPECT_LE(most, 10);
      EXPECT_GE(met, at_least(0.97));
    }
  }
}

// Whatever a candidate leaves behind slows the next call by a tenth: nothing gained, and the ratio
// alone would read 1.02 to 1.05.
TEST(Simulation, CarryOverIsNoSpeedup) {
  const auto attack = [](std::uint64_t i) {
    auto calls = session({}, 5, {20, 20}, i);
    for (std::size_t k = 1; k < calls.size(); ++k) {
      calls[k].device_seconds *= calls[k - 1].arm == Arm::candidate ? 1.1 : 1.0;
    }
    return analyse(calls, 2, 0);
  };
  EXPECT_GT(attack(1).ratio.low, 1.01) << "the attack works, but for the guard";
  int rejected = 0;
  const int faster = count_sessions([&](std::uint64_t i) {
    const Decision decision = decide(attack(i), {});
    rejected += decision == Decision::rejected_carryover ? 1 : 0;
    return decision == Decision::faster;
  });
  EXPECT_EQ(faster, 0);
  EXPECT_GE(rejected, at_least(0.995)) << rejected;
}

// A fifth of the calls five times slower, the others 1.25 times faster: 0.6 times the speed by mean
// times, 1.25 times by medians. Never FASTER; where the slow calls fall unevenly over the five
// replicates (0.8% of sessions) the interval may reach 1.
TEST(Simulation, ASlowMinorityIsNoSpeedup) {
  int faster = 0;
  const int not_slower = count_sessions([&faster](std::uint64_t i) {
    std::mt19937_64 random(i);
    const Machine machine{.extra = [&random](Arm arm, int) {
      return arm == Arm::seed ? 1.0 : (random() % 5 == 0 ? 5.0 : 0.8);
    }};
    const Decision decision = decide(judged(machine, i), {});
    faster += decision == Decision::faster ? 1 : 0;
    return decision != Decision::slower;
  });
  EXPECT_EQ(faster, 0);
  EXPECT_LE(not_slower, at_most(0.01)) << not_slower;
}

// Jitter of a kernel's own making is a lottery ticket only if the rule is: with a repetition after
// UNSTABLE, equal kernels are still called faster at most as often as without.
TEST(Simulation, JitterDoesNotRollTheDiceAgain) {
  int repeated = 0;
  const int faster = count_sessions([&](std::uint64_t i) {
    std::mt19937_64 random(i);
    const Machine machine{
        .process_noise = 0.01, .extra = [&random](Arm arm, int) {
          return arm == Arm::seed
                     ? 1.0
                     : std::exp(0.3 * (static_cast<double>(random() % 2001) / 1000 - 1));
        }};
    Decision decision = decide(judged(machine, i), {});
    if (decision == Decision::unstable) {
      ++repeated;
      decision = decide(judged(machine, i + 1'000'000), {});
    }
    return decision == Decision::faster;
  });
  EXPECT_LE(faster, at_most(0.025)) << faster;
  EXPECT_LE(repeated, at_most(0.001)) << "the candidate's jitter repeats nothing: " << repeated;
}

}  // namespace
}  // namespace sweep::timing
