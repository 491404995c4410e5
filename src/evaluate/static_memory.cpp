#include "evaluate/static_memory.h"

#include "evaluate/code.h"
#include "evaluate/signature.h"
#include "problem/draw.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

// The most that any architecture keeps resident on a multiprocessor.
constexpr double kResidentThreads = 2048;
constexpr double kFreeStack = 4096;
constexpr double kMiB = 1 << 20;

}  // namespace

std::string over_memory(const problem::Problem& problem,
                        const submission::Submission& submission,
                        const compile::Result& compiled,
                        int sm_count) {
  const double stack = std::max(0.0, static_cast<double>(compiled.stack_bytes) - kFreeStack) *
                       kResidentThreads * sm_count;
  const auto variables = static_cast<double>(compiled.static_bytes);
  if (variables + stack == 0) {
    return {};
  }
  const submission::Signature signature = candidate_signature(problem);
  for (const problem::Shape& shape : problem.shapes) {
    const problem::Draw draw =
        problem::visible_draw(problem, shape, "default", problem::Key::from_seed(0));
    const auto expanded = expand_for(
        submission,
        signature,
        draw,
        sm_count,
        [](const std::string&, std::int64_t, std::int64_t) { return std::int64_t{1}; },
        problem.limits.launches,
        false);
    // A plan that does not expand fails for that reason later.
    const auto* expansion = std::get_if<submission::Expansion>(&expanded);
    const double scratch = expansion == nullptr ? 0 : static_cast<double>(expansion->scratch_bytes);
    const double limit = problem::scratch_limit(problem, draw);
    if (variables + stack + scratch > limit) {
      return fmt::format(
          "shape {}: module variables of {:.1f} MiB, {:.1f} MiB of local memory ({} bytes a thread "
          "for all that can be resident) and {:.1f} MiB of scratch are more than the {:.1f} MiB "
          "that the problem allows",
          shape.name,
          variables / kMiB,
          stack / kMiB,
          compiled.stack_bytes,
          scratch / kMiB,
          limit / kMiB);
    }
  }
  return {};
}

}  // namespace sweep::evaluate
