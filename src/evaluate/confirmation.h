#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"

#include <functional>

// When a session is timed once more: where it was disturbed, and where it found a gain that matters
// in practice, on new contents and in new processes.
namespace sweep::evaluate {

// What `session` gives; where that is UNSTABLE, what a second one gives after `cool`. The second is
// final, whatever it says, and keeps the first in `earlier`.
[[nodiscard]] TimeResult repeated_once(const std::function<TimeResult()>& session,
                                       const std::function<void()>& cool);

// Seconds that a device cools for before a session is repeated.
inline constexpr double kCoolingSeconds = 5;

// The session whose ratio is the result: of the held-out shapes where they were timed and decided,
// else of the visible ones. Null where nothing was timed, or a timed call was wrong.
[[nodiscard]] const TimeResult* deciding_time(const Evaluation& evaluation);

// Whether timing::practical_win is open: `full` on a GPU, all defences on, PASS_FASTER by at
// least 1.05.
[[nodiscard]] bool confirmation_due(const EvaluationRequest& request, const Evaluation& evaluation);

// `options` of the confirming session: five replicates without a pilot or energy.
[[nodiscard]] StageOptions confirming(StageOptions options);

// Stores the session with what follows from it: practical_win, and the flag "not confirmed" where
// it is false. A wrong call or a rejecting guard is the kernel's verdict; an unstable session says
// nothing.
void confirm(Evaluation& evaluation, TimeResult session);

// practical_win, or null where there was no confirming session or it says nothing.
[[nodiscard]] std::optional<bool> practical_win(const Evaluation& evaluation);

// Why practical_win is null; empty: it is not.
[[nodiscard]] std::string practical_win_reason(const Evaluation& evaluation);

}  // namespace sweep::evaluate
