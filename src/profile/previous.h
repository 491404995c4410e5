#pragma once

#include "profile/report.h"

#include <nlohmann/json_fwd.hpp>

namespace sweep::profile {

// What a later profile is compared with: {"schema": 1, "kernels": [{"kernel", "metrics"}]}, without
// figures that ncu did not give.
[[nodiscard]] nlohmann::json summary_of(const NcuReport& report);

// Fills in Metric::before where kernel `i` of `summary` has the name of kernel `i` of the report.
// A text that is no summary changes nothing.
void compare_with(const nlohmann::json& summary, NcuReport& report);

// Fills in Metric::before from the last profile of the same file, problem and shape on the same
// GPU, and stores this one in its place. A missing or damaged one is none; failing to write costs
// the next comparison, nothing else.
void compare_with_previous(const evaluate::Services& services,
                           const evaluate::EvaluationRequest& request,
                           const device::Info& info,
                           NcuReport& report);

}  // namespace sweep::profile
