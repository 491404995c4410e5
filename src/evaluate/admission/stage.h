#pragma once

#include "evaluate/admission/admission.h"
#include "evaluate/judge_stages.h"
#include "evaluate/session.h"

#include <vector>

namespace sweep::evaluate::admission {

// Examines the session's problem by the rules that `options` wants, in order. What a reference or
// seed does wrong is a failure of a rule; after a fault of the reference the rules that are left
// are not measured, as the device is dead. Throws util::InfraError where the machine fails. Takes
// the device's lock.
[[nodiscard]] std::vector<RuleResult> run_admission(Session& session,
                                                    const Options& options,
                                                    const Tick& tick);

}  // namespace sweep::evaluate::admission
