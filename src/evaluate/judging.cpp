#include "evaluate/judging.h"

#include "problem/likeness.h"

#include <algorithm>
#include <cmath>

namespace sweep::evaluate {
namespace {

using problem::Comparison;

// Above this share of wrong elements the cause is the arithmetic, not an index.
constexpr double kPrecisionSpread = 0.01;

double finite_share(double share) {
  return std::isfinite(share) ? share : 1e300;
}

Failure failure_of(const problem::Problem& problem,
                   const std::string& output,
                   const Comparison& comparison,
                   Defence defence) {
  Failure failure;
  failure.defence = defence;
  failure.verdict = classify(problem, comparison);
  failure.text = comparison.text(output);
  failure.tensor = output;
  failure.index = comparison.first_bad;
  failure.got = comparison.got;
  failure.expected = comparison.expected;
  failure.allowed = comparison.allowed;
  failure.wrong = comparison.bad;
  failure.total = comparison.count;
  failure.pattern = comparison.pattern;
  if (failure.verdict == Verdict::incorrect_unwritten) {
    failure.hint =
        "elements keep the pattern that was there before the call: does the grid cover the whole "
        "output?";
  } else if (failure.verdict == Verdict::incorrect_precision) {
    failure.hint =
        "the errors are spread over the output: arithmetic of too low a precision, or a lossy "
        "accumulation";
  }
  return failure;
}

void add(Judgement& judgement,
         const problem::Problem& problem,
         const std::string& output,
         const Comparison& comparison,
         Defence rule,
         const DefenceSet& off) {
  judgement.worst_share = std::max(
      {judgement.worst_share, finite_share(comparison.worst), finite_share(comparison.worst_rms)});
  judgement.e_max[output] = comparison.e_max;
  const std::optional<Defence> caught = caught_by(comparison, rule, off);
  if (caught && !judgement.failure) {
    judgement.failure = failure_of(problem, output, comparison, *caught);
  }
}

// Adds what the wrong values look like to the failure of the output of `job`.
void liken(device::Device& device, const CompareJob& job, Failure& failure) {
  const problem::CompareParameters& p = job.parameters;
  if (failure.wrong < 1 || failure.verdict == Verdict::incorrect_unwritten ||
      p.count > problem::kMostLikened || job.otherwise.bytes > 0) {
    return;
  }
  std::vector<std::byte> got(job.got.bytes), oracle(job.oracle.bytes);
  device.download(got, job.got.address);
  device.download(oracle, job.oracle.address);
  if (const std::string words = problem::likeness(p, job.shape, got, oracle); !words.empty()) {
    failure.text += "; " + words;
  }
}

Region region_of(const Tensors& tensors, std::string_view name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Region{} : Region{found->second.address(), found->second.bytes()};
}

double value_of(const ByOutput& values, const std::string& output) {
  const auto found = values.find(output);
  return found == values.end() ? 0 : found->second;
}

CompareJob job_for(const problem::Problem& problem,
                   const Bench::Slot& slot,
                   const Tensors& got,
                   const ByOutput& least) {
  CompareJob job;
  job.parameters = problem::compare_parameters(problem, slot.tensor);
  job.parameters.least_scale = value_of(least, slot.tensor.name);
  job.shape = slot.tensor.stacked;
  job.got = region_of(got, slot.tensor.name);
  return job;
}

}  // namespace

Region Comparer::base_of(const Bench& bench, const std::string& output) const {
  const problem::Tolerance* tolerance = problem_.tolerance(output);
  if (tolerance == nullptr || tolerance->base.empty()) {
    return {};
  }
  const Bench::Slot& slot = bench.slot(tolerance->base);
  return {slot.pristine.address(), static_cast<std::size_t>(slot.tensor.bytes)};
}

// The condition is an expression over the aux tensors; the host evaluates it.
Store::Piece Comparer::unless_of(const problem::Draw& draw,
                                 const Truth& truth,
                                 const std::string& output) {
  const problem::Tolerance* tolerance = problem_.tolerance(output);
  if (tolerance == nullptr || !tolerance->unless) {
    return {};
  }
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::span<const double>> aux;
  const std::vector<std::string> used = expr::names(tolerance->unless->expr);
  for (const auto& [name, piece] : truth.aux) {
    if (std::ranges::find(used, name) == used.end()) {
      continue;  // an `else` tensor may have hundreds of megabytes
    }
    std::vector<double>& reals = values[name];
    reals.resize(piece.bytes() / sizeof(double));
    device_.download(std::as_writable_bytes(std::span(reals)), piece.address());
    aux[name] = reals;
  }
  const std::vector<std::uint8_t> marks =
      problem::evaluate_unless(*tolerance->unless, problem_, draw, aux);
  Store::Piece piece = store_.take(marks.size());
  device_.upload(piece.address(), std::as_bytes(std::span(marks)));
  return piece;
}

Judgement Comparer::with_oracle(const problem::Draw& draw,
                                const Truth& truth,
                                const Bench& bench,
                                const Tensors& got,
                                const Tensors& seed,
                                const ByOutput& least) {
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (slot.is_input()) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    const problem::Tolerance* tolerance = problem_.tolerance(name);
    const Store::Piece marks = unless_of(draw, truth, name);
    CompareJob job = job_for(problem_, slot, got, least);
    job.oracle = region_of(truth.outputs, name);
    job.seed = region_of(seed, name);
    job.base = base_of(bench, name);
    job.unless = {marks.address(), marks.bytes()};
    if (tolerance != nullptr) {
      job.scale = region_of(truth.aux, tolerance->scale_aux);
      job.otherwise = region_of(truth.aux, tolerance->otherwise);
    }
    job.poison = bench.poison();
    judge(job, name, Defence::oracle, judgement);
  }
  return judgement;
}

Judgement Comparer::with_seed(const Bench& bench,
                              const Tensors& got,
                              const Tensors& seed,
                              const ByOutput& e_max,
                              const ByOutput& least) {
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (slot.is_input()) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    CompareJob job = job_for(problem_, slot, got, least);
    job.parameters = problem::seed_rule(job.parameters, value_of(e_max, name));
    job.oracle = region_of(seed, name);
    job.base = base_of(bench, name);
    job.poison = bench.poison();
    judge(job, name, Defence::timed_compare, judgement);
  }
  return judgement;
}

void Comparer::judge(const CompareJob& job,
                     const std::string& output,
                     Defence rule,
                     Judgement& judgement) {
  const bool failed = judgement.failure.has_value();
  add(judgement, problem_, output, engine_.compare(job), rule, off_);
  if (!failed && judgement.failure && explain_) {
    liken(device_, job, *judgement.failure);
  }
}

bool seed_rule_suffices(const problem::Problem& problem) {
  return std::ranges::none_of(problem.tolerances, [](const auto& item) {
    return item.second.unless.has_value() || item.second.scale == problem::Tolerance::Scale::aux;
  });
}

std::optional<Defence> caught_by(const Comparison& comparison,
                                 Defence rule,
                                 const DefenceSet& off) {
  if (comparison.pass) {
    return std::nullopt;
  }
  const auto on = [&off](Defence defence) { return !off.contains(defence); };
  if (comparison.unwritten > 0 && on(Defence::poison)) {
    return Defence::poison;
  }
  if (comparison.nan > 0 && on(Defence::finite_masks)) {
    return Defence::finite_masks;
  }
  const std::int64_t nan = on(Defence::finite_masks) ? 0 : comparison.nan;
  if ((comparison.bad > nan || comparison.too_ambiguous) && on(rule)) {
    return rule;
  }
  const bool rms = comparison.bad_rows > 0 || comparison.tensor_rms_bad;
  return rms && on(Defence::rms_rule) ? std::optional(Defence::rms_rule) : std::nullopt;
}

Verdict classify(const problem::Problem& problem, const Comparison& comparison) {
  if (comparison.unwritten > 0 && 2 * comparison.unwritten >= comparison.bad) {
    return Verdict::incorrect_unwritten;
  }
  const auto lower = problem::next_lower(problem.precision);
  const double spread = comparison.count == 0 ? 0
                                              : static_cast<double>(comparison.bad) /
                                                    static_cast<double>(comparison.count);
  const bool rms_only =
      comparison.bad == 0 && (comparison.bad_rows > 0 || comparison.tensor_rms_bad);
  if (lower && comparison.nan == 0 && (rms_only || spread >= kPrecisionSpread) &&
      comparison.worst <= problem::epsilon(*lower) / problem::epsilon(problem.precision)) {
    return Verdict::incorrect_precision;
  }
  return Verdict::incorrect_value;
}

Defence defence_of(const device::Fault& fault, bool inside_input, bool near_buffer) {
  switch (fault.kind) {
    case device::Fault::Kind::timeout:
      return Defence::time_limit;
    case device::Fault::Kind::out_of_memory:
      return Defence::memory_limit;
    case device::Fault::Kind::memory:
      return inside_input  ? Defence::read_only_inputs
             : near_buffer ? Defence::guard_pages
                           : Defence::device_faults;
    case device::Fault::Kind::launch:
    case device::Fault::Kind::other:
      return Defence::device_faults;
  }
  return Defence::device_faults;
}

std::optional<Failure> damage_failure(const Bench::Damage& damage, const DefenceSet& off) {
  Failure failure;
  if (!damage.input.empty() && !off.contains(Defence::input_intact)) {
    failure.defence = Defence::input_intact;
    failure.verdict = Verdict::incorrect_input_mutated;
    failure.tensor = damage.input;
    failure.text = "input '" + damage.input + "' changed during the call";
    failure.hint = "inputs are read-only; use `scratch` for work space";
    return failure;
  }
  if (!damage.slack.empty() && !off.contains(Defence::slack_watch)) {
    failure.defence = Defence::slack_watch;
    failure.verdict = Verdict::incorrect_out_of_bounds;
    failure.tensor = damage.slack;
    failure.text = "something was written behind the last element of '" + damage.slack + "'";
    failure.hint = "guard the last threads: is the index compared with the size?";
    return failure;
  }
  if (!damage.front.empty() && !off.contains(Defence::front_watch)) {
    failure.defence = Defence::front_watch;
    failure.verdict = Verdict::incorrect_out_of_bounds;
    failure.tensor = damage.front;
    failure.text = "something was written before the first element of '" + damage.front + "'";
    failure.hint = "can an index be negative?";
    return failure;
  }
  return std::nullopt;
}

Verdict verdict_of(const device::Fault& fault, bool inside_input, bool near_buffer) {
  using Kind = device::Fault::Kind;
  switch (fault.kind) {
    case Kind::launch:
      return Verdict::launch_error;
    case Kind::timeout:
      return Verdict::timeout;
    case Kind::out_of_memory:
      return Verdict::out_of_memory;
    case Kind::memory:
      return inside_input  ? Verdict::incorrect_input_mutated
             : near_buffer ? Verdict::incorrect_out_of_bounds
                           : Verdict::runtime_fault;
    case Kind::other:
      return Verdict::runtime_fault;
  }
  return Verdict::runtime_fault;
}

}  // namespace sweep::evaluate
