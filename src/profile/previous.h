#pragma once

#include "profile/report.h"

#include <filesystem>

namespace sweep::profile {

// Fills in Metric::before from the last profile of the same file, problem and shape on the same
// GPU, and stores this one in its place. A missing or damaged one is none; failing to write costs
// the next comparison, nothing else.
void compare_with_previous(const evaluate::Services& services,
                           const evaluate::EvaluationRequest& request,
                           const device::Info& info,
                           NcuReport& report);

}  // namespace sweep::profile
