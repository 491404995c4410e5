#pragma once

#include "timing/samples.h"
#include "timing/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sweep::timing {

// A simulated device: how the time of a call comes about. Noise is of logarithms.
struct Machine {
  double ratio = 1;          // true seed / candidate
  double call_noise = 0.01;  // sd per call
  double process_noise = 0;  // sd of the log ratio of a runner pair
  double drift = 0;          // linear over a replicate, both arms
  // Factor of a content, drawn once for each and common to both arms.
  std::function<double(std::mt19937_64&)> content = [](std::mt19937_64&) { return 1.0; };
  std::function<double(Arm, int)> extra = [](Arm, int) { return 1.0; };  // n-th call of a replicate
};

// The calls of a session, in order of time. blocks[s] of shape s in each replicate; shape s takes
// s + 1 times 100 us.
inline std::vector<Call> session(const Machine& machine,
                                 int replicates,
                                 const std::vector<int>& blocks,
                                 std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Call> calls;
  for (int r = 0; r < replicates; ++r) {
    const double pair = machine.process_noise * normal(random);
    const std::vector<Block> order = schedule({"p", std::to_string(seed), "s"}, r, blocks);
    const double length = std::max<double>(4.0 * static_cast<double>(order.size()) - 1, 1);
    int n = 0;
    for (const Block& block : order) {
      double content = 1;
      for (int position = 0; position < 4; ++position) {
        if (position % 2 == 0) {
          content = machine.content(random);
        }
        const Arm arm = block.order.at(static_cast<std::size_t>(position));
        double t =
            1e-4 * (1 + block.shape) * content * std::exp(machine.call_noise * normal(random));
        t *= 1 + machine.drift * n / length;
        t *= arm == Arm::seed ? machine.ratio * std::exp(pair) : 1.0;
        t *= machine.extra(arm, n++);
        calls.push_back({r, block.shape, block.number, position, arm, t, t});
      }
    }
  }
  return calls;
}

// Of `trials` sessions, how many `holds` is true for.
inline int count_sessions(int trials, const std::function<bool(std::uint64_t)>& holds) {
  int count = 0;
  for (int i = 0; i < trials; ++i) {
    count += holds(1000U + static_cast<std::uint64_t>(i)) ? 1 : 0;
  }
  return count;
}

}  // namespace sweep::timing
