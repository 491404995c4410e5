#pragma once

#include "profile/replay.h"
#include "profile/report.h"
#include "profile/subject.h"
#include "util/process.h"

namespace sweep::profile {

// compute-sanitizer's memcheck, racecheck, synccheck and initcheck, each over one replay of the
// plan on the smallest visible shape, under the device's shared lock. Diagnosis, never a verdict.
// A checker that fails or hangs (spin barriers do under racecheck) is Unavailable on its own.
[[nodiscard]] Result<SanitizerReport> sanitize(const evaluate::EvaluationRequest& request,
                                               const evaluate::Services& services,
                                               const evaluate::Evaluation& evaluation,
                                               const Subject& subject,
                                               const Wanted& wanted);

// What one run of a checker tells: its log, or why there is none. `replayed`: what `sweep __replay`
// left.
[[nodiscard]] Result<SanitizerLog> judge_run(const std::string& checker,
                                             const util::Captured& run,
                                             const Result<Replayed>& replayed);

}  // namespace sweep::profile
