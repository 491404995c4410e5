#include "evaluate/verdict.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sweep::evaluate {
namespace {

struct Row {
  Verdict verdict;
  Outcome outcome;
  std::string_view name;
  std::string_view meaning;
};

using V = Verdict;
using O = Outcome;

constexpr std::array kVerdicts = {
    Row{V::pass_faster,
        O::correct,
        "PASS_FASTER",
        "Correct, and faster than the seed beyond doubt and margin."},
    Row{V::pass_equivalent,
        O::correct,
        "PASS_EQUIVALENT",
        "Correct, and as fast as the seed within the margin."},
    Row{V::pass_slower, O::correct, "PASS_SLOWER", "Correct, but slower than the seed."},
    Row{V::pass_inconclusive,
        O::correct,
        "PASS_INCONCLUSIVE",
        "Correct; not shown to be faster or slower than the seed."},
    Row{V::plan_error,
        O::compile_fail,
        "PLAN_ERROR",
        "The launch plan cannot be parsed or expanded for some shape."},
    Row{V::compile_error, O::compile_fail, "COMPILE_ERROR", "The compiler refused the source."},
    Row{V::launch_error,
        O::error,
        "LAUNCH_ERROR",
        "The device refused to load or launch a kernel."},
    Row{V::runtime_fault,
        O::error,
        "RUNTIME_FAULT",
        "The kernel crashed its process or the device, twice."},
    Row{V::timeout, O::timeout, "TIMEOUT", "A call did not end within the time allowed."},
    Row{V::out_of_memory,
        O::error,
        "OUT_OF_MEMORY",
        "Scratch or code did not fit into the memory allowed."},
    Row{V::incorrect_value,
        O::incorrect,
        "INCORRECT_VALUE",
        "Some output differs from the reference by more than is allowed."},
    Row{V::incorrect_unwritten,
        O::incorrect,
        "INCORRECT_UNWRITTEN",
        "Some output element was never written."},
    Row{V::incorrect_nondeterministic,
        O::incorrect,
        "INCORRECT_NONDETERMINISTIC",
        "Two calls on the same inputs gave different outputs where the problem forbids it."},
    Row{V::incorrect_out_of_bounds,
        O::incorrect,
        "INCORRECT_OUT_OF_BOUNDS",
        "A kernel read or wrote outside its buffers."},
    Row{V::incorrect_input_mutated,
        O::incorrect,
        "INCORRECT_INPUT_MUTATED",
        "A kernel changed an input."},
    Row{V::incorrect_precision,
        O::incorrect,
        "INCORRECT_PRECISION",
        "Errors are spread over the whole output and look like arithmetic of too low a precision."},
    Row{V::incorrect_generalisation,
        O::incorrect,
        "INCORRECT_GENERALISATION",
        "Correct on the visible shapes, wrong on shapes or contents that were not shown."},
    Row{V::incorrect_instructions,
        O::incorrect,
        "INCORRECT_INSTRUCTIONS",
        "The results are right, but the compiled code lacks instructions that the problem "
        "requires."},
    Row{V::rejected_state,
        O::rejected,
        "REJECTED_STATE",
        "Outputs depend on what an earlier call left behind."},
    Row{V::rejected_floor,
        O::rejected,
        "REJECTED_FLOOR",
        "Faster than the hardware can do the work."},
    Row{V::rejected_timer,
        O::rejected,
        "REJECTED_TIMER",
        "The clocks disagree about the time of a call."},
    Row{V::rejected_carryover,
        O::rejected,
        "REJECTED_CARRYOVER",
        "The seed runs slower after this kernel than after itself, beyond what both lose alike."},
    Row{V::rejected_escape, O::rejected, "REJECTED_ESCAPE", "The code tried to leave its sandbox."},
    Row{V::rejected_stale,
        O::rejected,
        "REJECTED_STALE",
        "An output is the result of an earlier call's inputs."},
    Row{V::rejected_late_store,
        O::rejected,
        "REJECTED_LATE_STORE",
        "An output changed after the call had ended."},
    Row{V::rejected_forbidden,
        O::rejected,
        "REJECTED_FORBIDDEN",
        "The compiled code holds something that is not allowed."},
    Row{V::unstable, O::correct, "UNSTABLE", "Correct; the machine drifted too much for a timing."},
    Row{V::review,
        O::rejected,
        "REVIEW",
        "A person should look at this result; nothing is proved."},
    Row{V::infra_device,
        O::infra_error,
        "INFRA_DEVICE",
        "The device failed outside the submission's calls."},
    Row{V::infra_judge,
        O::infra_error,
        "INFRA_JUDGE",
        "The judge or a runner failed outside the submission's calls."},
    Row{V::infra_endpoint, O::infra_error, "INFRA_ENDPOINT", "The model's endpoint failed."},
    Row{V::infra_disk, O::infra_error, "INFRA_DISK", "A file could not be read or written."},
    Row{V::infra_lost, O::infra_error, "INFRA_LOST", "The process that did this work vanished."},
};

const Row& row(Verdict verdict) {
  const auto* found = std::ranges::find(kVerdicts, verdict, &Row::verdict);
  if (found == kVerdicts.end()) {
    throw std::logic_error("verdict outside the closed list");
  }
  return *found;
}

}  // namespace

std::string_view name(Verdict verdict) {
  return row(verdict).name;
}

std::string_view meaning(Verdict verdict) {
  return row(verdict).meaning;
}

Outcome outcome_of(Verdict verdict) {
  return row(verdict).outcome;
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  const auto* found = std::ranges::find(kVerdicts, text, &Row::name);
  return found == kVerdicts.end() ? std::nullopt : std::optional(found->verdict);
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::correct:
      return "correct";
    case Outcome::incorrect:
      return "incorrect";
    case Outcome::compile_fail:
      return "compile_fail";
    case Outcome::error:
      return "error";
    case Outcome::timeout:
      return "timeout";
    case Outcome::skipped:
      return "skipped";
    case Outcome::in_progress:
      return "in_progress";
    case Outcome::rejected:
      return "rejected";
    case Outcome::infra_error:
      return "infra_error";
  }
  throw std::logic_error("outcome outside the closed list");
}

}  // namespace sweep::evaluate
