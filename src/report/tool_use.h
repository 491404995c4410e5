#pragma once

#include "report/summary.h"

#include <string>
#include <vector>

namespace sweep::report {

// Which tools were called when, as CSV (RFC 4180) with a head line: one row a tool call, and one
// for each turn without any. docs/run_format.md names the columns. Visible figures only.
[[nodiscard]] std::string tool_use_csv(const std::vector<Row>& rows);

}  // namespace sweep::report
