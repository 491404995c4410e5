#include "timing/statistics.h"

#include "stats/stats.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace sweep::timing {
namespace {

constexpr double kUnevenLimit = 0.05;
constexpr std::uint64_t kBootstrapSeed = 1;

struct BlockTimes {
  std::array<double, 2> seed{}, candidate{};
  int seeds = 0, candidates = 0;

  [[nodiscard]] bool complete() const { return seeds == 2 && candidates == 2; }

  [[nodiscard]] double log_ratio() const {
    return 0.5 * (std::log(seed[0]) + std::log(seed[1]) - std::log(candidate[0]) -
                  std::log(candidate[1]));
  }
};

// blocks[replicate][shape]: complete blocks only.
struct Blocks {
  std::map<int, std::vector<std::vector<BlockTimes>>> by_replicate;
  int complete = 0, discarded = 0;
};

Blocks collect(std::span<const Call> calls, int shapes) {
  std::map<std::array<int, 3>, BlockTimes> all;
  for (const Call& call : calls) {
    BlockTimes& block = all[{call.replicate, call.shape, call.block}];
    if (!(call.device_seconds > 0) || !std::isfinite(call.device_seconds)) {
      continue;
    }
    const bool is_seed = call.arm == Arm::seed;
    int& count = is_seed ? block.seeds : block.candidates;
    if (count < 2) {
      (is_seed ? block.seed : block.candidate).at(static_cast<std::size_t>(count)) =
          call.device_seconds;
    }
    ++count;
  }
  Blocks result;
  for (const auto& [place, block] : all) {
    auto& row = result.by_replicate[place[0]];
    row.resize(static_cast<std::size_t>(shapes));
    if (!block.complete()) {
      ++result.discarded;
      continue;
    }
    row.at(static_cast<std::size_t>(place[1])).push_back(block);
    ++result.complete;
  }
  return result;
}

using Times = std::vector<double>;

// The seed is trusted, and the contents of a shape cost it about the same: a call that takes this
// many times its median was disturbed from outside, and its block says nothing about the candidate.
// The candidate's own slow calls always count.
constexpr double kDisturbed = 3;

void drop_disturbed(Blocks& blocks) {
  for (auto& [replicate, shapes] : blocks.by_replicate) {
    for (std::vector<BlockTimes>& shape : shapes) {
      Times seed;
      for (const BlockTimes& block : shape) {
        seed.insert(seed.end(), block.seed.begin(), block.seed.end());
      }
      if (seed.empty()) {
        continue;
      }
      const double limit = kDisturbed * stats::median(seed);
      const auto dropped = std::erase_if(shape, [limit](const BlockTimes& block) {
        return block.seed[0] > limit || block.seed[1] > limit;
      });
      blocks.discarded += static_cast<int>(dropped);
      blocks.complete -= static_cast<int>(dropped);
    }
  }
}

void append(const BlockTimes& block, Times& seed, Times& candidate) {
  seed.insert(seed.end(), block.seed.begin(), block.seed.end());
  candidate.insert(candidate.end(), block.candidate.begin(), block.candidate.end());
}

Times log_ratios(const std::vector<BlockTimes>& blocks) {
  Times values;
  values.reserve(blocks.size());
  for (const BlockTimes& block : blocks) {
    values.push_back(block.log_ratio());
  }
  return values;
}

// The number that stands for a shape in a replicate.
double replicate_value(const std::vector<BlockTimes>& blocks, bool uneven) {
  if (!uneven) {
    return stats::median(log_ratios(blocks));
  }
  Times seed, candidate;
  for (const BlockTimes& block : blocks) {
    append(block, seed, candidate);
  }
  return std::log(stats::mean(seed)) - std::log(stats::mean(candidate));
}

Estimate from_log(double point, double half) {
  return {std::exp(point), std::exp(point - half), std::exp(point + half)};
}

// Student t over independent values; the half-width of one value is unknown and stated as infinite.
Estimate student(std::span<const double> values) {
  const double half =
      values.size() < 2
          ? std::numeric_limits<double>::infinity()
          : stats::student_t_quantile(0.975, static_cast<double>(values.size() - 1)) *
                stats::standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
  return from_log(stats::mean(values), half);
}

double half_width(const Estimate& estimate) {
  return std::log(estimate.high) - std::log(estimate.point);
}

bool is_uneven(const Times& seed, const Times& candidate) {
  const double of_seed = stats::mean(seed) / stats::median(seed);
  const double of_candidate = stats::mean(candidate) / stats::median(candidate);
  return std::abs(of_candidate / of_seed - 1) > kUnevenLimit;
}

void require_blocks(const Blocks& blocks) {
  for (const auto& [replicate, shapes] : blocks.by_replicate) {
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      if (shapes[s].empty()) {
        throw util::InfraError({"timing",
                                "replicate " + std::to_string(replicate) +
                                    " has no complete block of shape " + std::to_string(s),
                                "run it again on an idle device"},
                               "E_TIMING_SAMPLES");
      }
    }
  }
}

// One resampled geometric mean: replicates with replacement, then blocks within each.
double resample(const std::vector<const std::vector<std::vector<BlockTimes>>*>& replicates,
                const std::vector<bool>& uneven,
                std::mt19937_64& random) {
  double sum = 0;
  for (std::size_t r = 0; r < replicates.size(); ++r) {
    const auto& shapes = *replicates[random() % replicates.size()];
    double logs = 0;
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      std::vector<BlockTimes> drawn;
      drawn.reserve(shapes[s].size());
      for (std::size_t b = 0; b < shapes[s].size(); ++b) {
        drawn.push_back(shapes[s][random() % shapes[s].size()]);
      }
      logs += replicate_value(drawn, uneven[s]);
    }
    sum += logs / static_cast<double>(shapes.size());
  }
  return sum / static_cast<double>(replicates.size());
}

Estimate bootstrap(const Blocks& blocks,
                   const std::vector<bool>& uneven,
                   double point,
                   int rounds) {
  std::vector<const std::vector<std::vector<BlockTimes>>*> replicates;
  for (const auto& [number, shapes] : blocks.by_replicate) {
    replicates.push_back(&shapes);
  }
  if (rounds <= 0) {
    return {std::exp(point), std::exp(point), std::exp(point)};
  }
  std::mt19937_64 random(kBootstrapSeed);
  Times values;
  values.reserve(static_cast<std::size_t>(rounds));
  for (int i = 0; i < rounds; ++i) {
    values.push_back(resample(replicates, uneven, random));
  }
  return {std::exp(point),
          std::exp(stats::quantile(values, 0.025)),
          std::exp(stats::quantile(values, 0.975))};
}

ShapeResult shape_result(const Blocks& blocks, std::size_t shape) {
  ShapeResult result;
  Times seed, candidate;
  for (const auto& [replicate, shapes] : blocks.by_replicate) {
    for (const BlockTimes& block : shapes[shape]) {
      append(block, seed, candidate);
    }
    result.blocks += static_cast<int>(shapes[shape].size());
  }
  result.seed_seconds = stats::median(seed);
  result.candidate_seconds = stats::median(candidate);
  result.uneven = is_uneven(seed, candidate);
  Times values;
  for (const auto& [replicate, shapes] : blocks.by_replicate) {
    values.push_back(replicate_value(shapes[shape], result.uneven));
    result.block_logs.push_back(log_ratios(shapes[shape]));
  }
  result.ratio = student(values);
  if (values.size() == 1) {
    const Estimate inside = student(log_ratios(blocks.by_replicate.begin()->second[shape]));
    result.ratio = from_log(values[0], half_width(inside));
  }
  result.replicate_logs = std::move(values);
  return result;
}

// Log of the geometric mean over the shapes, of each replicate.
Times replicate_logs(const Blocks& blocks, const std::vector<ShapeResult>& shapes) {
  Times values;
  for (const auto& [replicate, row] : blocks.by_replicate) {
    double sum = 0;
    for (std::size_t s = 0; s < row.size(); ++s) {
      sum += replicate_value(row[s], shapes[s].uneven);
    }
    values.push_back(sum / static_cast<double>(row.size()));
  }
  return values;
}

Estimate overall(const Times& values, const std::vector<ShapeResult>& shapes) {
  if (values.size() > 1) {
    return student(values);
  }
  double squares = 0;
  for (const ShapeResult& shape : shapes) {
    squares += half_width(shape.ratio) * half_width(shape.ratio);
  }
  return from_log(values.at(0), std::sqrt(squares) / static_cast<double>(shapes.size()));
}

// 1.4826 MAD estimates the sd of normal values, and their median scatters by 1.2533 sd / sqrt(n).
constexpr double kMadToMedianError = 1.4826 * 1.2533;

double block_error(const Blocks& blocks) {
  double sum = 0;
  for (const auto& [replicate, row] : blocks.by_replicate) {
    double squares = 0;
    for (const std::vector<BlockTimes>& shape : row) {
      const double error = kMadToMedianError * stats::median_absolute_deviation(log_ratios(shape)) /
                           std::sqrt(static_cast<double>(shape.size()));
      squares += error * error;
    }
    sum += std::sqrt(squares) / static_cast<double>(row.size());
  }
  return sum / static_cast<double>(blocks.by_replicate.size());
}

bool any_shape_slower(const Result& result, double limit) {
  return std::ranges::any_of(result.shapes,
                             [limit](const ShapeResult& s) { return s.ratio.high < 1 / limit; });
}

}  // namespace

Result analyse(std::span<const Call> calls,
               int shapes,
               int bootstrap_rounds,
               std::span<const int> launches,
               Disturbed disturbed) {
  Blocks blocks = collect(calls, shapes);
  if (blocks.by_replicate.empty() || shapes < 1) {
    throw util::InfraError({"timing", "no timed calls", "run it again"}, "E_TIMING_SAMPLES");
  }
  require_blocks(blocks);
  if (disturbed == Disturbed::discard) {
    drop_disturbed(blocks);
  }
  Result result;
  result.replicates = static_cast<int>(blocks.by_replicate.size());
  result.blocks = blocks.complete;
  result.discarded = blocks.discarded;
  std::vector<bool> uneven;
  for (std::size_t s = 0; s < static_cast<std::size_t>(shapes); ++s) {
    result.shapes.push_back(shape_result(blocks, s));
    uneven.push_back(result.shapes.back().uneven);
    result.uneven = result.uneven || uneven.back();
  }
  const Times values = replicate_logs(blocks, result.shapes);
  result.ratio = overall(values, result.shapes);
  result.replicate_sd = values.size() > 1 ? stats::standard_deviation(values) : 0;
  result.block_error = block_error(blocks);
  result.drift = drift(calls, shapes);
  result.carryover = carryover(calls, shapes);
  const std::vector<int> single(static_cast<std::size_t>(shapes), 1);
  result.hidden = hidden_time(calls, launches.empty() ? std::span<const int>(single) : launches);
  result.bootstrap = bootstrap(blocks, uneven, std::log(result.ratio.point), bootstrap_rounds);
  return result;
}

double margin(double aa_half_width) {
  return std::max(2 * aa_half_width, 0.01);
}

Decision decide(const Result& result, const Rule& rule) {
  if (rule.guarded && (result.hidden.found() || result.slope.found())) {
    return Decision::rejected_timer;
  }
  if (rule.guarded && result.carryover.low > rule.margin) {
    return Decision::rejected_carryover;
  }
  const int attempted = result.blocks + result.discarded;
  if (rule.guarded && (rule.disturbed || result.drift.low > rule.drift_limit ||
                       result.discarded > rule.discard_limit * attempted)) {
    return Decision::unstable;
  }
  if (!rule.guarded && result.drift.low > rule.drift_limit) {
    const double drifted = (1 + rule.margin) * (1 + result.drift.point);
    return result.ratio.high < 1 / drifted ? Decision::slower : Decision::inconclusive;
  }
  const double limit = 1 + rule.margin;
  if (result.ratio.high < 1 / limit) {
    return Decision::slower;
  }
  if (result.ratio.low > limit && !any_shape_slower(result, limit)) {
    return rule.may_say_faster ? Decision::faster : Decision::inconclusive;
  }
  if (result.ratio.low >= 1 / limit && result.ratio.high <= limit) {
    return Decision::equivalent;
  }
  return Decision::inconclusive;
}

int replicates_for(double sd, double target) {
  constexpr int kLeast = 5;
  for (int n = kLeast; n < kMostReplicates; ++n) {
    if (stats::student_t_quantile(0.975, n - 1) * sd / std::sqrt(n) <= target) {
      return n;
    }
  }
  return kMostReplicates;
}

double target_half_width(double call_seconds) {
  constexpr double kShort = 20e-6, kLong = 100e-6, kWide = 0.005, kNarrow = 0.002;
  const double along = std::log(std::clamp(call_seconds, kShort, kLong) / kShort);
  return kWide * std::exp(along * std::log(kNarrow / kWide) / std::log(kLong / kShort));
}

int replicates_after(const Result& pilot) {
  constexpr double kProcesses = 0.1e-6;
  double logs = 0;
  for (const ShapeResult& shape : pilot.shapes) {
    logs += std::log(shape.seed_seconds);
  }
  const double call = std::exp(logs / static_cast<double>(pilot.shapes.size()));
  const double least = std::hypot(pilot.block_error, kProcesses / call);
  return replicates_for(std::max(pilot.replicate_sd, least), target_half_width(call));
}

bool practical_win(const Estimate& first, const Estimate& second) {
  return first.point >= 1.05 && second.low >= 1.0;
}

bool specialised(const Estimate& heldout, const Estimate& visible) {
  return heldout.point < 0.8 * visible.point;
}

}  // namespace sweep::timing
