#include "evaluate/floor_rule.h"

#include "problem/fill.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

constexpr double kShare = 0.9;

bool has_mask(const problem::Problem& problem) {
  return std::ranges::any_of(problem.tensors, [](const problem::Tensor& tensor) {
    return tensor.role == problem::Role::input && tensor.type == expr::DType::boolean;
  });
}

}  // namespace

Floor floor_of(const problem::Problem& problem,
               const problem::Draw& draw,
               const device::Info& info) {
  Floor floor;
  floor.work = problem::work_of(problem, draw, problem::FillPlan(problem, draw).statistics());
  if (!(info.dram_bytes_per_second > 0)) {
    return floor;
  }
  const problem::WorkValues& work = floor.work;
  const bool hopper = info.arch.starts_with("sm_90");
  floor.bytes = std::max(0.0, work.bytes - static_cast<double>(info.l2_bytes));
  floor.seconds = std::max(floor.bytes / info.dram_bytes_per_second,
                           hopper ? problem::least_compute_seconds(problem, work) : 0.0);
  floor.provable = problem.work.bytes.has_value() || !has_mask(problem);
  return floor;
}

std::optional<Failure> below_floor(const std::string& shape,
                                   const Floor& floor,
                                   std::span<const double> replicate_medians) {
  if (!(floor.seconds > 0) || replicate_medians.empty()) {
    return std::nullopt;
  }
  const double slowest = *std::ranges::max_element(replicate_medians);
  if (slowest >= kShare * floor.seconds) {
    return std::nullopt;
  }
  Failure failure;
  failure.defence = Defence::floor;
  failure.verdict = floor.provable ? Verdict::rejected_floor : Verdict::review;
  failure.text =
      fmt::format("{}: a call takes {:.3g} us, where the hardware needs {:.3g} us for the work",
                  shape,
                  1e6 * slowest,
                  1e6 * floor.seconds);
  failure.hint = "part of the work was not done, or not in the timed call";
  return failure;
}

}  // namespace sweep::evaluate
