#pragma once

#include "device/conditions.h"
#include "evaluate/failure.h"
#include "evaluate/verdict.h"
#include "expr/expr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What the time stage measured. docs/timing.md explains every number.
namespace sweep::evaluate {

// Ratio seed/candidate: above 1 the candidate is faster. 95% unless said otherwise.
struct Interval {
  double low = 0, point = 0, high = 0;
};

// One timed call as measured. Raw samples are stored, so that every number can be computed again.
struct Sample {
  int replicate = 0, shape = 0, block = 0, position = 0;  // position 0..3 in the block
  bool candidate = false;
  double device_seconds = 0, host_seconds = 0;
  double flushed = -1;  // share of probe lines evicted; -1: no probe on this device
};

// What a call takes in a graph of many on buffers of their own (throughput.h), beside its time
// alone.
struct GraphTiming {
  int calls = 0;                                   // of a graph
  double seed_seconds = 0, candidate_seconds = 0;  // medians over the graphs, for each call
  Interval ratio;
  std::string reason = "was not measured";  // why there are no seconds; empty: there are
};

struct ShapeTiming {
  std::string shape;
  expr::IntEnv dims;
  double seed_seconds = 0, candidate_seconds = 0;  // medians
  Interval ratio;
  bool uneven = false;            // mean and median disagree by over 5%: the mean decides
  double floor_seconds = 0;       // roofline floor; 0: unknown
  int launches = 1;               // of the candidate's plan
  int seed_launches = 1;          // of the seed's plan
  double bytes = 0, flops = 0;    // of one call by the problem's work model; 0: unknown
  std::string unit = {};          // that the model counts the flops on: "tensor-bf16"
  bool flops_needed = false;      // no algorithm is known that does with fewer
  std::int64_t tensor_bytes = 0;  // of inputs, inout and outputs
  std::int64_t scratch_bytes = 0, seed_scratch_bytes = 0;
  GraphTiming throughput = {};
};

// A disturbance that was looked for; docs/timing.md explains each. Only `low` decides.
struct Guard {
  double point = 0;  // estimate
  double low = 0;    // lower confidence bound
  double limit = 0;  // that `low` may reach
};

// Wall time of the parts of judged calls, in seconds.
struct CallCosts {
  double fill = 0;     // waiting for contents
  double poison = 0;   // outputs, and what was started before them
  double flush = 0;    // with its probe
  double run = 0;      // messages, the call itself, the wash after it
  double inspect = 0;  // outputs copied; inputs, slack and fronts intact
  double compare = 0;  // outputs with the seed's or the oracle's

  CallCosts& operator+=(const CallCosts& other);
};

// Wall time of the parts of the time stage, in seconds.
struct TimePhases {
  double pool = 0;    // draws with oracle results
  double start = 0;   // waiting for runners to be ready
  double warm = 0;    // first calls of each pair
  double calls = 0;   // timed calls, on the device alone: fill, poison, flush, call, compare
  double slopes = 0;  // rows of calls for the judge's own clock
  double graphs = 0;  // of many calls, on the device alone
  CallCosts costs;    // of `calls`
};

// The floor of a device's noise that a result's margin rests on (calibration.h).
struct CalibrationUsed {
  std::string id;
  double age_seconds = 0;  // when the result was made
  double half_width = 0;   // relative, of the worst band that a shape falls in
};

// Time of a call by the judge's own clock, from round trips to the runner for two numbers of calls,
// in one replicate and shape; in seconds, with what handing over a call and flushing take.
struct SlopeSample {
  int replicate = 0, shape = 0;
  double seed = 0, candidate = 0;
};

// Energy of one call by NVML's counter, at one shape (energy.h).
struct EnergyResult {
  std::string shape = {};
  double seed_joules = 0, candidate_joules = 0;
  double seconds = 0;                       // that measuring took
  std::string reason = "was not measured";  // why there are no joules; empty: there are
};

struct TimeResult {
  std::vector<ShapeTiming> shapes;
  Interval ratio;      // geometric mean over the shapes
  Interval bootstrap;  // stratified, printed beside
  double margin = 0.01;
  std::optional<CalibrationUsed> calibration;  // none: the device was not calibrated
  int replicates = 0, blocks = 0, discarded = 0;
  bool uneven = false;
  Guard drift;                      // of the seed over a replicate, relative
  Guard carryover;                  // of the candidate on the seed's next call, relative
  Guard hidden;                     // of the candidate's events against the host's clock, seconds
  std::optional<Verdict> decision;  // PASS_*, UNSTABLE, REJECTED_TIMER or REJECTED_CARRYOVER
  std::optional<Failure> failure;   // a timed call that was judged wrong
  std::string clock;                // "cuda events", "monotonic clock"
  Guard slope;                      // of the candidate's events against the judge's clock, seconds
  std::vector<Sample> samples;      // in order of time
  std::vector<SlopeSample> slopes;  // of the judge's clock; empty where it was not read
  std::vector<Sample> graphs;       // of ShapeTiming::throughput, seconds of whole ones
  std::vector<Sample> pilot;  // of the replicates that fixed how many there are; not used again
  std::vector<TimeResult> earlier;  // UNSTABLE sessions that this one repeats
  TimePhases phases;
  EnergyResult energy;
  device::Conditions conditions;  // the worst seen after a replicate's calls
  double seconds = 0;

  // Mean wall time of a judged call beyond the time between its events; 0 without calls.
  [[nodiscard]] double overhead_per_call() const;
};

}  // namespace sweep::evaluate
