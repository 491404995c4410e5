#include "evaluate/time_summary.h"

#include "stats/stats.h"
#include "timing/clocks.h"
#include "timing/short_calls.h"
#include "timing/statistics.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

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
    case timing::Decision::rejected_timer:
      return Verdict::rejected_timer;
    case timing::Decision::rejected_carryover:
      return Verdict::rejected_carryover;
  }
  return Verdict::pass_inconclusive;
}

constexpr const char* kGpuClock = "cuda events";
constexpr int kBootstraps = 1000;

std::vector<timing::Call> calls_of(const std::vector<Sample>& samples) {
  std::vector<timing::Call> calls;
  calls.reserve(samples.size());
  for (const Sample& s : samples) {
    calls.push_back({s.replicate,
                     s.shape,
                     s.block,
                     s.position,
                     s.candidate ? timing::Arm::candidate : timing::Arm::seed,
                     s.device_seconds,
                     s.host_seconds});
  }
  return calls;
}

void take_shapes(const timing::Result& found, std::vector<ShapeTiming>& shapes) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const timing::ShapeResult& shape = found.shapes[i];
    shapes[i].seed_seconds = shape.seed_seconds;
    shapes[i].candidate_seconds = shape.candidate_seconds;
    shapes[i].ratio = to_interval(shape.ratio);
    shapes[i].uneven = shape.uneven;
  }
}

// Of the shape whose calls fall in the worst band: a mean over shapes scatters less than its worst.
CalibrationUsed floor_used(const NoiseFloors& floors, const TimeResult& result) {
  std::vector<std::vector<double>> seconds(result.shapes.size());
  for (const Sample& sample : result.samples) {
    if (!sample.candidate) {
      seconds.at(static_cast<std::size_t>(sample.shape)).push_back(sample.device_seconds);
    }
  }
  CalibrationUsed used{floors.id, floors.age_seconds, 0};
  for (const std::vector<double>& shape : seconds) {
    if (!shape.empty()) {
      used.half_width = std::max(used.half_width, half_width_for(floors, stats::median(shape)));
    }
  }
  return used;
}

// Readings of each shape, one for each replicate that has one; events are medians of its samples.
std::vector<std::vector<timing::ClockReading>> readings_of(const TimeResult& result) {
  std::map<std::pair<int, int>, std::array<std::vector<double>, 2>> events;
  for (const Sample& sample : result.samples) {
    events[{sample.replicate, sample.shape}]
        .at(sample.candidate ? 1 : 0)
        .push_back(sample.device_seconds);
  }
  std::vector<std::vector<timing::ClockReading>> readings(result.shapes.size());
  for (const SlopeSample& slope : result.slopes) {
    const auto found = events.find({slope.replicate, slope.shape});
    if (found == events.end() || found->second[0].empty() || found->second[1].empty()) {
      continue;
    }
    readings.at(static_cast<std::size_t>(slope.shape))
        .push_back({stats::median(found->second[0]),
                    stats::median(found->second[1]),
                    slope.seed,
                    slope.candidate});
  }
  return readings;
}

// Of the shapes that have graphs.
void add_throughput(TimeResult& result) {
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    GraphTiming& made = result.shapes[i].throughput;
    std::vector<Sample> graphs;
    std::ranges::copy_if(result.graphs, std::back_inserter(graphs), [i](const Sample& sample) {
      return sample.shape == static_cast<int>(i);
    });
    if (graphs.empty() || made.calls < 1) {
      made = {0, 0, 0, {}, made.reason.empty() ? "no graph of its calls was timed" : made.reason};
      continue;
    }
    for (Sample& sample : graphs) {
      sample.shape = 0;
    }
    const timing::Throughput found = timing::throughput(calls_of(graphs), made.calls);
    made = {made.calls, found.seed_seconds, found.candidate_seconds, to_interval(found.ratio), ""};
  }
}

// By samples and clocks.
timing::Result analysed(const TimeResult& result) {
  std::vector<int> launches;
  for (const ShapeTiming& shape : result.shapes) {
    launches.push_back(shape.launches);
  }
  timing::Result found = timing::analyse(
      calls_of(result.samples),
      static_cast<int>(result.shapes.size()),
      kBootstraps,
      launches,
      result.clock == kGpuClock ? timing::Disturbed::discard : timing::Disturbed::keep);
  found.slope = timing::slope_gap(readings_of(result), launches);
  return found;
}

timing::Rule rule_of(const TimeResult& result, bool may_say_faster) {
  timing::Rule rule;
  rule.margin = result.margin;
  rule.guarded = result.clock == kGpuClock;
  rule.disturbed = result.conditions.disturbed();
  rule.may_say_faster = may_say_faster && rule.guarded;
  return rule;
}

}  // namespace

void add_statistics(TimeResult& result,
                    const std::deque<TimedShape>& shapes,
                    const StageOptions& options) {
  for (const TimedShape& shape : shapes) {
    ShapeTiming& timing = result.shapes.emplace_back();
    timing.shape = shape.place.name;
    timing.dims = shape.place.free;
    timing.floor_seconds = shape.floor_seconds;
    timing.launches = shape.launches;
    timing.seed_launches = shape.seed_launches;
    timing.scratch_bytes = shape.scratch_bytes;
    timing.seed_scratch_bytes = shape.seed_scratch_bytes;
    timing.bytes = shape.floor.work.bytes;
    timing.flops = shape.floor.work.flops;
    timing.unit = shape.unit;
    timing.flops_needed = shape.flops_needed;
    timing.throughput.calls = shape.throughput.calls;
    timing.throughput.reason = shape.throughput.reason;
    for (const Bench::Slot& slot : shape.benches.front()->slots()) {
      timing.tensor_bytes += static_cast<std::int64_t>(slot.tensor.bytes);
    }
  }
  if (options.floors) {
    result.calibration = floor_used(*options.floors, result);
  }
  compute_statistics(result, options.may_say_faster);
}

void compute_statistics(TimeResult& result, bool may_say_faster) {
  const timing::Result found = analysed(result);
  take_shapes(found, result.shapes);
  add_throughput(result);
  result.margin = timing::margin(result.calibration ? result.calibration->half_width : 0);
  result.ratio = to_interval(found.ratio);
  result.bootstrap = to_interval(found.bootstrap);
  result.discarded = found.discarded;
  result.replicates = found.replicates;
  result.uneven = found.uneven;
  const timing::Rule rule = rule_of(result, may_say_faster);
  result.drift = {found.drift.point, found.drift.low, rule.drift_limit};
  result.carryover = {found.carryover.point, found.carryover.low, rule.margin};
  result.hidden = {found.hidden.seconds.point, found.hidden.seconds.low, found.hidden.limit};
  result.slope = {found.slope.seconds.point, found.slope.seconds.low, found.slope.limit};
  result.decision = to_verdict(timing::decide(found, rule));
}

Verdict decision_by_own_guards(TimeResult result, bool may_say_faster) {
  const TimeResult own = result;
  compute_statistics(result, may_say_faster);
  timing::Result found = analysed(result);
  found.drift = {own.drift.point, own.drift.low};
  found.carryover = {own.carryover.point, own.carryover.low};
  found.hidden.seconds = {own.hidden.point, own.hidden.low};
  found.slope.seconds = {own.slope.point, own.slope.low};
  return to_verdict(timing::decide(found, rule_of(result, may_say_faster)));
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

int replicates_after_pilot(const std::vector<Sample>& pilot, std::size_t shapes, int least) {
  const timing::Result found = timing::analyse(calls_of(pilot), static_cast<int>(shapes), 0);
  return std::max(least, timing::replicates_after(found));
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
