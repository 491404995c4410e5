#pragma once

#include "timing/samples.h"
#include "timing/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sweep::timing {

// A simulated device: how the time of a call comes about. Noise is of logarithms.
struct Machine {
  double ratio = 1;          // true seed / candidate
  double call_noise = 0.01;  // sd per call
  double correlation = 0;    // of the noise of a call with the one before
  double process_noise = 0;  // sd of the log ratio of a runner pair
  double drift = 0;          // linear over a replicate, both arms
  double walk = 0;           // sd, at the end of a replicate, of a random walk of both arms
  double second = 0;         // what the second call on a content costs more
  double outliers = 0;       // share of calls that take 1 + Exp(0.2) times as long
  // Factor of a content, drawn once for each and common to both arms.
  std::function<double(std::mt19937_64&)> content = [](std::mt19937_64&) { return 1.0; };
  std::function<double(Arm, int)> extra = [](Arm, int) { return 1.0; };  // n-th call of a replicate
};

// Noise that goes on from call to call.
class Noise {
 public:
  Noise(const Machine& machine, std::size_t calls, std::uint64_t seed)
      : machine_(machine), calls_(static_cast<double>(calls)), random_(seed) {}

  double normal() { return normal_(random_); }

  double content() { return machine_.content(random_); }

  // Factor of the next call.
  double call() {
    const double fresh = std::sqrt(1 - machine_.correlation * machine_.correlation);
    state_ = machine_.correlation * state_ + fresh * normal();
    walk_ += machine_.walk / std::sqrt(calls_) * normal();
    const bool outlier = uniform_(random_) < machine_.outliers;
    const double late = outlier ? 1 - 0.2 * std::log(1 - uniform_(random_)) : 1;
    return late * std::exp(machine_.call_noise * state_ + walk_);
  }

 private:
  const Machine& machine_;
  double calls_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double state_ = 0, walk_ = 0;
};

// The calls of a session, in order of time. blocks[s] of shape s in each replicate, which are
// numbered from `first`; shape s takes s + 1 times 100 us.
inline std::vector<Call> session(const Machine& machine,
                                 int replicates,
                                 const std::vector<int>& blocks,
                                 std::uint64_t seed,
                                 int first = 0) {
  std::vector<Call> calls;
  for (int r = first; r < first + replicates; ++r) {
    const std::vector<Block> order = schedule({"p", std::to_string(seed), "s"}, r, blocks);
    const std::size_t count = 4 * order.size();
    Noise noise(machine, count, seed * 64 + static_cast<std::uint64_t>(r));
    const double pair = machine.process_noise * noise.normal();
    int n = 0;
    for (const Block& block : order) {
      double content = 1;
      for (int position = 0; position < 4; ++position) {
        content = position % 2 == 0 ? noise.content() : content;
        const Arm arm = block.order.at(static_cast<std::size_t>(position));
        double t = 1e-4 * (1 + block.shape) * content * noise.call();
        t *= 1 + machine.drift * n / std::max(static_cast<double>(count) - 1, 1.0);
        t *= position % 2 == 1 ? 1 + machine.second : 1.0;
        t *= arm == Arm::seed ? machine.ratio * std::exp(pair) : 1.0;
        t *= machine.extra(arm, n++);
        calls.push_back({r, block.shape, block.number, position, arm, t, t});
      }
    }
  }
  return calls;
}

// Sessions of a rate; many where the tests labelled torture run, few under a sanitizer, where one
// takes ten times as long.
inline int trials() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kPlain = 60;
#else
  constexpr int kPlain = 300;
#endif
  return std::getenv("SWEEP_TORTURE") != nullptr ? 10'000 : kPlain;
}

// Bounds of a count of trials() sessions, each true with this probability: four standard
// deviations. Sessions follow from their numbers, so a count never changes.
inline double at_most(double rate) {
  return rate * trials() + 4 * std::sqrt(rate * (1 - rate) * trials());
}

inline double at_least(double rate) {
  return rate * trials() - 4 * std::sqrt(rate * (1 - rate) * trials());
}

// Of trials() sessions, how many `holds` is true for.
inline int count_sessions(const std::function<bool(std::uint64_t)>& holds) {
  int count = 0;
  for (int i = 0; i < trials(); ++i) {
    count += holds(1000U + static_cast<std::uint64_t>(i)) ? 1 : 0;
  }
  return count;
}

}  // namespace sweep::timing
