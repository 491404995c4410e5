#pragma once

#include "device/conditions.h"
#include "device/device.h"
#include "evaluate/defence.h"
#include "evaluate/isa.h"
#include "evaluate/verdict.h"
#include "expr/expr.h"
#include "submission/plan.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sweep::evaluate {

enum class Stage { screen, compile, check, stress, time, heldout };

[[nodiscard]] std::string_view name(Stage stage);  // "check", "held-out"
[[nodiscard]] std::optional<Stage> parse_stage(std::string_view text);

// fast: visible shapes, one replicate, never says FASTER. standard: screen to time. full: held-out
// besides.
enum class Depth { fast, standard, full };

// A text to be evaluated or compared with.
struct Source {
  std::string file;  // for messages only
  std::string text;
};

struct EvaluationRequest {
  Source submission;
  std::string problem;  // "level1/3"; empty: the plan's `problem` line decides
  device::Id device;
  Depth depth = Depth::standard;
  std::optional<Stage> only;         // this stage, with screen and compile before it
  std::vector<expr::IntEnv> shapes;  // free dims; empty: the problem's visible shapes
  std::uint64_t seed = 1;            // draws, schedule and checks follow from it and the problem
  std::optional<Source> versus;      // takes the seed's place in time (it must pass check as well)
  std::map<std::string, std::int64_t> overrides;  // -D NAME=value of plan constants
  bool prepare = true;  // references and seed's calls of check and stress are computed while the
                        // submission compiles, and by a spare judge; the result is the same without
  bool nvcc = false;    // the submission is compiled by nvcc in place of NVRTC (cuda)
  std::optional<problem::IsaPolicy> isa;  // in place of the problem's
  bool allow_unsandboxed = false;
  bool device_printf = false;  // only for people; an agent's evaluation never sets it
  int check_seeds = 3;         // draws of each visible shape
  int stress_draws = 12;       // random shapes of stress beside the edges
  bool stress_gates = true;  // false: a failure of stress or held-out is recorded and flagged, and
                             // the visible shapes alone decide the verdict (variant `popcorn`)
  int replicates = 5;        // fresh runner pairs of time
  int blocks = 0;  // ABBA blocks of a shape and replicate; 0: up to 20, by the time a call takes
  double deadline_seconds = 600;  // of the whole evaluation
  DefenceSet off;  // `sweep selftest` and tests only: the result says so and is never PASS_FASTER
};

// What evaluate() needs from its surroundings. Paths need not exist (cache and locks are made).
struct Services {
  std::filesystem::path problems;  // folder with level1/..; see problem/catalog.h
  std::vector<std::filesystem::path>
      more_problems;              // looked through first (--problem DIR, $SWEEP_PROBLEMS)
  std::filesystem::path seeds;    // folder with level1/03_name.cu of the built-in problems; any
                                  // other has its seed.cu beside problem.toml
  std::filesystem::path golden;   // folder with level1_3.json, golden vectors of the built-in ones
  std::filesystem::path cache;    // compiled images
  std::filesystem::path locks;    // empty: $SWEEP_LOCK_DIR, else /tmp/sweep-locks
  std::filesystem::path salt;     // empty: $SWEEP_SALT_FILE, else ~/.local/state/sweep/salt
  std::filesystem::path program;  // binary with the roles; empty: this program
  std::int64_t compilers = 0;     // submissions compiled at a time on this machine; 0: no limit
};

class Spares;

struct Failure {
  Verdict verdict{};
  std::string text;    // one paragraph, for a reader
  std::string hint;    // may be empty
  std::string tensor;  // where the values differ
  std::vector<std::int64_t> index;
  double got = 0, expected = 0, allowed = 0;
  std::int64_t wrong = 0, total = 0;
  std::string pattern;             // "all in column 76, the last one"
  std::optional<Defence> defence;  // that caught it
};

// One judged call.
struct Call {
  std::string shape;       // name in the problem, or "k=v,.." for an explicit one
  expr::IntEnv dims;       // free dims
  std::uint64_t draw = 0;  // seed of the draw
  std::string content;     // "default" or a content set
  double worst_share = 0;  // largest error as a share of what is allowed; > 1 fails
  double device_seconds = 0;
  std::optional<Failure> failure;
};

// Holds facts that no model may see (stress and held-out shapes, contents, first errors). The only
// way in is for_archive(): feedback.h takes no Hidden, so hidden facts cannot become feedback by
// mistake.
template <class T>
class Hidden {
 public:
  Hidden() = default;

  explicit Hidden(T value) : value_(std::move(value)) {}

  // For the stored record and for people; never for a conversation.
  [[nodiscard]] const T& for_archive() const { return value_; }

 private:
  T value_{};
};

// What the plan launches on the visible shapes: canonical JSON (keys sorted, no white space)
// {"schema": 1, "shapes": [{"shape", "plan"}]}, expanded as screening does, for 132 SMs (cpu: 1)
// and one resident block per SM. Both empty: it did not parse or expand.
struct CanonicalPlan {
  std::string text;    // empty as well where it would take more than 64 KiB
  std::string sha256;  // of the whole text
};

struct ScreenResult {
  std::size_t bytes = 0;
  std::vector<submission::PlanError> errors;
  std::int64_t launches = 0;         // of the largest visible shape
  std::int64_t scratch_bytes = 0;    // of the largest visible shape
  std::vector<std::string> kernels;  // name expressions
  double seconds = 0;
};

struct KernelFacts {
  std::string name;
  int registers = -1, spill_bytes = -1, shared_bytes = -1, stack_bytes = -1;  // -1: unknown
};

struct CompileResult {
  std::string
      status;  // "ok", "compile_error", "unsupported", "forbidden", "timeout", "out_of_memory"
  std::string log;
  std::vector<KernelFacts> kernels;
  std::string compiler;     // "NVRTC 13.0"
  std::string code_sha256;  // cuda: of the machine code, names and constants of kernels; else empty
  bool cached = false;
  double seconds = 0;
};

// Wall time of the parts of check or stress, in seconds. What the device is asked for counts where
// it is waited for.
struct JudgeCosts {
  double bench = 0;      // buffers
  double scales = 0;     // further contents that tell how large small outputs can be
  double fill = 0;       // contents
  double oracle = 0;     // the reference
  double seed = 0;       // the seed's call, and its judgement
  double candidate = 0;  // the candidate's call, also where it is repeated
  double compare = 0;    // its judgement
  int ready = 0;         // calls whose contents, reference and seed were computed before
};

struct CheckResult {
  std::vector<Call> calls;
  double worst_share = 0;
  std::optional<Failure> failure;  // the first
  JudgeCosts costs;
  double seconds = 0;
};

struct StressResult {
  bool passed = false;  // the one bit that a model gets
  int random_shapes = 0, edge_shapes = 0, contents = 0;
  Hidden<std::optional<Failure>> inner;  // its verdict is stored beside INCORRECT_GENERALISATION
  Hidden<std::vector<Call>> calls;
  JudgeCosts costs;
  double seconds = 0;
};

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
  std::vector<Sample> pilot;  // of the replicates that fixed how many there are; not used again
  std::vector<TimeResult> earlier;  // UNSTABLE sessions that this one repeats
  TimePhases phases;
  EnergyResult energy;
  device::Conditions conditions;  // the worst seen after a replicate's calls
  double seconds = 0;

  // Mean wall time of a judged call beyond the time between its events; 0 without calls.
  [[nodiscard]] double overhead_per_call() const;
};

struct HeldoutResult {
  bool passed = false;
  Hidden<std::optional<Failure>> inner;
  Hidden<std::vector<Call>> calls;
  Hidden<std::optional<TimeResult>> time;
  double seconds = 0;
};

struct Protections {
  bool landlock = false, seccomp = false, network = false, pids = false, user = false;
  bool sealed = false;  // no host code of the submission runs (never on the cpu device)
  std::string note;     // "unsealed", "sealed: weak", "run without a sandbox"
};

// One figure that follows from times and work, for a reader (docs/timing.md). Either a value or the
// reason why there is none; never an estimate in place of a measurement.
struct Metric {
  std::string name;   // "roofline"
  std::string shape;  // empty: of all shapes
  std::optional<double> value;
  std::string unit;  // "B/s", "op/s", "B", "s"; empty: a ratio
  std::string text;  // what it refers to, or why there is no value
};

// A baseline that was recorded on the device (baselines.h), beside an evaluation.
struct ShownBaseline {
  std::string name, library, math;
  double age_seconds = 0;  // when the evaluation was made
  double ratio = 0;        // seed / baseline over the shapes in common
  double candidate = 0;    // baseline / candidate over the same: above 1 the candidate is faster
  int shapes = 0;          // in common
  std::string reason;      // why it cannot be held against this evaluation; then no numbers
};

struct StageTime {
  Stage stage{};
  double seconds = 0;
};

struct Evaluation {
  Verdict verdict = Verdict::infra_judge;
  std::vector<std::string> flags;  // "UNEVEN", "unsealed", "quick look", "specialised", "fails
                                   // stress", "fails held-out", "virtual ranks"
  std::string problem, title, file;
  std::string versus;  // the kernel that it was timed against; empty: the seed
  std::string source_sha256;
  CanonicalPlan plan;
  std::uint64_t seed = 1;
  Depth depth = Depth::standard;
  std::optional<ScreenResult> screen;
  std::optional<CompileResult> compile;
  std::optional<CheckResult> check;
  std::optional<StressResult> stress;
  std::optional<TimeResult> time;
  std::optional<HeldoutResult> heldout;
  std::vector<std::string> weakened;  // names of the defences that were off
  std::string device;                 // "cuda:0"
  device::Info device_info;
  Protections protections;
  std::string version;    // of this program
  std::string infra;      // INFRA_*: where: what; next
  std::string headline;   // one line: why this verdict
  std::string reproduce;  // command that shows the same again
  std::string next;       // what to try now
  std::vector<StageTime> stages;
  std::vector<Metric> metrics;  // of the visible shapes that were timed (metrics.h)
  std::vector<ShownBaseline> baselines;
  Hidden<std::optional<TimeResult>> confirmation;  // of the deciding session's shapes
  std::optional<IsaResult> isa;  // where the problem names families; profile/isa.h fills it in
  double seconds = 0;
  double lock_wait_seconds = 0;  // of those, for the device's lock

  // Whether any stage looked at what the kernel computes. False after `only` screen or compile,
  // whose PASS_INCONCLUSIVE says nothing about correctness.
  [[nodiscard]] bool judged() const { return check || stress || time || heldout; }

  [[nodiscard]] Outcome outcome() const { return outcome_of(verdict); }
};

// What is going on, for a terminal. `done` of `total` may both be 0.
struct ProgressEvent {
  Stage stage{};
  enum class State { started, running, finished } state = State::started;
  bool ok = true;  // of a finished stage
  std::string text;
  std::size_t done = 0, total = 0;
};

using Progress = std::function<void(const ProgressEvent&)>;

// Runs the stages in order until one fails. A failing kernel is a value; what the user got wrong
// (unknown problem, no such device, broken shape) throws util::UsageError. Failures of the harness
// end in verdict INFRA_* with `infra` set. The caller's process opens no device: compiler, judge
// and runners are processes of their own. With `spares` the judge may be a spare one, and one for
// the next evaluation is left behind.
[[nodiscard]] Evaluation evaluate(const EvaluationRequest& request,
                                  const Services& services,
                                  const Progress& progress = {},
                                  Spares* spares = nullptr);

// Schema 1. `archive` includes what Hidden holds; without it those members are left out.
enum class View { open, archive };
[[nodiscard]] nlohmann::json to_json(const Evaluation& evaluation, View view);
[[nodiscard]] Evaluation evaluation_from_json(
    const nlohmann::json& body);  // throws util::UsageError on another schema

}  // namespace sweep::evaluate
