#include "evaluate/judging.h"

#include <algorithm>
#include <cmath>

namespace sweep::evaluate {
namespace {

using problem::CompareInputs;
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

bool is_output(const Bench::Slot& slot) {
  return !slot.is_input();
}

std::vector<std::byte> base_of(const problem::Problem& problem,
                               Bench& bench,
                               const std::string& output) {
  const problem::Tolerance* tolerance = problem.tolerance(output);
  return tolerance == nullptr || tolerance->base.empty()
             ? std::vector<std::byte>{}
             : bench.read_pristine(bench.slot(tolerance->base));
}

std::vector<std::uint8_t> unless_of(const problem::Problem& problem,
                                    const problem::Draw& draw,
                                    const Truth& truth,
                                    const std::string& output) {
  const problem::Tolerance* tolerance = problem.tolerance(output);
  if (tolerance == nullptr || !tolerance->unless) {
    return {};
  }
  std::map<std::string, std::span<const double>> aux;
  for (const auto& [name, values] : truth.aux) {
    aux[name] = values;
  }
  return problem::evaluate_unless(*tolerance->unless, problem, draw, aux);
}

std::span<const double> aux_values(const Truth& truth, const std::string& name) {
  const auto found = truth.aux.find(name);
  return found == truth.aux.end() ? std::span<const double>{}
                                  : std::span<const double>(found->second);
}

}  // namespace

Judgement judge_outputs(const problem::Problem& problem,
                        const problem::Draw& draw,
                        const Truth& truth,
                        Bench& bench,
                        const Outputs& got,
                        const Outputs& seed) {
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (!is_output(slot)) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    const problem::Tolerance* tolerance = problem.tolerance(name);
    const std::vector<std::byte> base = base_of(problem, bench, name);
    const std::vector<std::uint8_t> unless = unless_of(problem, draw, truth, name);
    CompareInputs inputs;
    inputs.got = got.at(name);
    inputs.oracle = truth.outputs.at(name);
    inputs.seed = seed.at(name);
    inputs.base = base;
    inputs.unless = unless;
    if (tolerance != nullptr) {
      inputs.scale = aux_values(truth, tolerance->scale_aux);
      inputs.otherwise = aux_values(truth, tolerance->otherwise);
    }
    inputs.poison = bench.poison();
    add(judgement,
        problem,
        name,
        problem::compare(
            problem::compare_parameters(problem, slot.tensor), slot.tensor.shape, inputs));
  }
  return judgement;
}

Judgement judge_against_seed(const problem::Problem& problem,
                             const problem::Draw& draw,
                             Bench& bench,
                             const Outputs& got,
                             const Outputs& seed,
                             const std::map<std::string, double, std::less<>>& e_max) {
  (void)draw;
  Judgement judgement;
  for (const Bench::Slot& slot : bench.slots()) {
    if (!is_output(slot)) {
      continue;
    }
    const std::string& name = slot.tensor.name;
    const auto known = e_max.find(name);
    const std::vector<std::byte> base = base_of(problem, bench, name);
    add(judgement,
        problem,
        name,
        problem::compare_with_seed(problem::compare_parameters(problem, slot.tensor),
                                   slot.tensor.shape,
                                   got.at(name),
                                   seed.at(name),
                                   base,
                                   known == e_max.end() ? 0 : known->second,
                                   bench.poison()));
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
