#pragma once

#include "cli/style.h"
#include "profile/report.h"

#include <string>

namespace sweep::cli {

// The summary of Nsight Compute for each kernel, with the change since the previous profile of the
// file. Figures that ncu does not give are "-"; the reasons are in --json.
[[nodiscard]] std::string profile_text(const profile::NcuReport& report,
                                       const Style& style,
                                       std::size_t width);

}  // namespace sweep::cli
