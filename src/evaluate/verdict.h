#pragma once

#include <optional>
#include <string_view>

namespace sweep::evaluate {

// The closed list of verdicts; meaning() explains each.
enum class Verdict {
  pass_faster,
  pass_equivalent,
  pass_slower,
  pass_inconclusive,
  plan_error,
  compile_error,
  launch_error,
  runtime_fault,
  timeout,
  out_of_memory,
  incorrect_value,
  incorrect_unwritten,
  incorrect_nondeterministic,
  incorrect_out_of_bounds,
  incorrect_input_mutated,
  incorrect_precision,
  incorrect_generalisation,
  incorrect_instructions,
  rejected_state,
  rejected_floor,
  rejected_timer,
  rejected_carryover,
  rejected_escape,
  rejected_stale,
  rejected_late_store,
  rejected_forbidden,
  unstable,
  review,
  infra_device,
  infra_judge,
  infra_endpoint,
  infra_disk,
  infra_lost,
};

// PopcornBench's words plus two.
enum class Outcome {
  correct,
  incorrect,
  compile_fail,
  error,
  timeout,
  skipped,
  in_progress,
  rejected,
  infra_error
};

[[nodiscard]] std::string_view name(Verdict verdict);  // "PASS_FASTER"
[[nodiscard]] std::string_view name(Outcome outcome);  // "compile_fail"
[[nodiscard]] Outcome outcome_of(Verdict verdict);
[[nodiscard]] std::optional<Verdict> parse_verdict(std::string_view text);  // of name(Verdict)
[[nodiscard]] std::string_view meaning(Verdict verdict);  // one sentence for a reader

}  // namespace sweep::evaluate
