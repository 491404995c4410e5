#pragma once

#include "cli/style.h"
#include "profile/report.h"

#include <string>

namespace sweep::cli {

// What the profiling tools of `sweep eval` found, as a person reads it; empty where none was asked
// for. Text from the submission and from tools is made printable.
[[nodiscard]] std::string tools_text(const profile::Report& report,
                                     const Style& style,
                                     std::size_t width = 0);

}  // namespace sweep::cli
