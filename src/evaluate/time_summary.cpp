#include "evaluate/time_summary.h"

#include "stats/stats.h"
#include "timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sweep::evaluate {
namespace {

Interval to_interval(const timing::Estimate& e) {
  return {e.low, e.point, e.high};
}

Verdict to_verdict(timing::Decision decision) {
  switch (decision) {
    case timing::Decision::faster:
      return Verdict::pass_faster;
    case timing::Decision::equivalent:
      return Verdict::pass_equivalent;
    case timing::Decision::slower:
      return Verdict::pass_slower;
    case timing::Decision::inconclusive:
      return Verdict::pass_inconclusive;
    case timing::Decision::unstable:
      return Verdict::unstable;
  }
  return Verdict::pass_inconclusive;
}

}  // namespace

void add_statistics(TimeResult& result,
                    const std::deque<TimedShape>& shapes,
                    bool may_say_faster,
                    bool cpu) {
  std::vector<timing::Call> calls;
  for (const Sample& s : result.samples) {
    calls.push_back({s.replicate,
                     s.shape,
                     s.block,
                     s.position,
                     s.candidate ? timing::Arm::candidate : timing::Arm::seed,
                     s.device_seconds,
                     s.host_seconds});
  }
  const timing::Result found = timing::analyse(calls, static_cast<int>(shapes.size()));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const timing::ShapeResult& shape = found.shapes[i];
    result.shapes.push_back({shapes[i].place.name,
                             shapes[i].place.free,
                             shape.seed_seconds,
                             shape.candidate_seconds,
                             to_interval(shape.ratio),
                             shape.uneven,
                             shapes[i].floor_seconds});
  }
  result.ratio = to_interval(found.ratio);
  result.bootstrap = to_interval(found.bootstrap);
  result.discarded = found.discarded;
  result.replicates = found.replicates;
  result.uneven = found.uneven;
  result.drift = found.drift.point;
  timing::Rule rule;
  rule.margin = timing::margin(0);
  rule.may_say_faster = may_say_faster && !cpu;
  // Nobody guards the host's clocks, and others work on its cores: on the cpu device drift and
  // discarded blocks are reported and decide nothing.
  rule.drift_limit = cpu ? HUGE_VAL : rule.drift_limit;
  rule.discard_limit = cpu ? 1 : rule.discard_limit;
  result.margin = rule.margin;
  result.decision = to_verdict(timing::decide(found, rule));
}

std::optional<Failure> floor_failure(const std::vector<Sample>& samples,
                                     const std::deque<TimedShape>& shapes) {
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    std::map<int, std::vector<double>> by_replicate;
    for (const Sample& sample : samples) {
      if (sample.candidate && sample.shape == static_cast<int>(shape)) {
        by_replicate[sample.replicate].push_back(sample.device_seconds);
      }
    }
    std::vector<double> medians;
    for (const auto& [replicate, times] : by_replicate) {
      medians.push_back(stats::median(times));
    }
    if (auto failure = below_floor(shapes[shape].place.name, shapes[shape].floor, medians)) {
      return failure;
    }
  }
  return std::nullopt;
}

CallCosts& CallCosts::operator+=(const CallCosts& other) {
  fill += other.fill;
  poison += other.poison;
  flush += other.flush;
  run += other.run;
  inspect += other.inspect;
  compare += other.compare;
  return *this;
}

double TimeResult::overhead_per_call() const {
  double between_events = 0;
  for (const Sample& sample : samples) {
    between_events += sample.device_seconds;
  }
  return samples.empty()
             ? 0
             : std::max(phases.calls - between_events, 0.0) / static_cast<double>(samples.size());
}

}  // namespace sweep::evaluate
