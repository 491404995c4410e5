#include "evaluate/judging.h"

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
                   const Comparison& comparison) {
  Failure failure;
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
         const Comparison& comparison) {
  judgement.worst_share = std::max(
      {judgement.worst_share, finite_share(comparison.worst), finite_share(comparison.worst_rms)});
  judgement.e_max[output] = comparison.e_max;
  if (!comparison.pass && !judgement.failure) {
    judgement.failure = failure_of(problem, output, comparison);
  }
}

Region region_of(const Tensors& tensors, std::string_view name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Region{} : Region{found->second.address(), found->second.bytes()};
}

CompareJob job_for(const problem::Problem& problem, const Bench::Slot& slot, const Tensors& got) {
  CompareJob job;
  job.parameters = problem::compare_parameters(problem, slot.tensor);
  job.shape = slot.tensor.shape;
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
  return {slot.pristine->address(), static_cast<std::size_t>(slot.tensor.bytes)};
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
                                const Tensors& seed) {
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (slot.is_input()) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    const problem::Tolerance* tolerance = problem_.tolerance(name);
    const Store::Piece marks = unless_of(draw, truth, name);
    CompareJob job = job_for(problem_, slot, got);
    job.oracle = region_of(truth.outputs, name);
    job.seed = region_of(seed, name);
    job.base = base_of(bench, name);
    job.unless = {marks.address(), marks.bytes()};
    if (tolerance != nullptr) {
      job.scale = region_of(truth.aux, tolerance->scale_aux);
      job.otherwise = region_of(truth.aux, tolerance->otherwise);
    }
    job.poison = bench.poison();
    add(judgement, problem_, name, engine_.compare(job));
  }
  return judgement;
}

Judgement Comparer::with_seed(const Bench& bench,
                              const Tensors& got,
                              const Tensors& seed,
                              const std::map<std::string, double, std::less<>>& e_max) {
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (slot.is_input()) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    const auto known = e_max.find(name);
    CompareJob job = job_for(problem_, slot, got);
    job.parameters = problem::seed_rule(job.parameters, known == e_max.end() ? 0 : known->second);
    job.oracle = region_of(seed, name);
    job.base = base_of(bench, name);
    job.poison = bench.poison();
    add(judgement, problem_, name, engine_.compare(job));
  }
  return judgement;
}

bool seed_rule_suffices(const problem::Problem& problem) {
  return std::ranges::none_of(problem.tolerances, [](const auto& item) {
    return item.second.unless.has_value() || item.second.scale == problem::Tolerance::Scale::aux;
  });
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
