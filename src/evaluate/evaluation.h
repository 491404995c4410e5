#pragma once

#include "device/device.h"
#include "evaluate/defence.h"
#include "evaluate/failure.h"
#include "evaluate/isa.h"
#include "evaluate/rules.h"
#include "evaluate/time_result.h"
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
  int rules = kRules;     // that it was judged by
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
