#pragma once

#include "evaluate/evaluation.h"
#include "util/error.h"
#include "util/sandbox.h"

#include <string>
#include <string_view>
#include <vector>

// What is said about an evaluation: why, how to see it again, what to do next.
namespace sweep::evaluate {

// What is known of an evaluation before its first stage.
[[nodiscard]] Evaluation begun(const EvaluationRequest& request);

// Whether an evaluation of this request comes to a stage after compile, unless one before it fails.
[[nodiscard]] bool wants(const EvaluationRequest& request, Stage stage);

// "rows=5,cols=7"
[[nodiscard]] std::string dims_text(const expr::IntEnv& dims);

// Which infrastructure failed, by the error's code.
[[nodiscard]] Verdict infra_verdict(const util::Error& error);

// What stood between the submission and the machine, as the judge reports it. `pageable`: kernels
// reach all memory of their runner (device/describe.h).
[[nodiscard]] Protections protections_of(const std::vector<util::Protection>& list,
                                         device::Kind kind,
                                         bool pageable);

// "1.250x  [1.200, 1.300]  geometric mean over 3 visible shapes"
[[nodiscard]] std::string speedup_text(const TimeResult& time, std::string_view which);

// Why a session's guards reject a kernel (REJECTED_TIMER, REJECTED_CARRYOVER), in one sentence;
// else empty.
[[nodiscard]] std::string guard_text(const TimeResult& result);

// Why a text did not compile, in one line: the compiler's first error, else its status.
[[nodiscard]] std::string compile_text(const CompileResult& compile);

// What a failed stress stage says; `checked`: the visible shapes were judged before it.
[[nodiscard]] std::string_view stress_text(bool checked);

// The defences that caught the submission: the one that saw it, with stress or held-out before it
// where the call was not a visible one. Empty where nothing was caught. Tells hidden facts: for the
// archive and for people.
[[nodiscard]] std::vector<Defence> caught_by(const Evaluation& evaluation);

// Fills in flags, `reproduce` and `next` of a finished evaluation.
void conclude(const EvaluationRequest& request, Evaluation& result);

}  // namespace sweep::evaluate
