#pragma once

#include "report/page.h"
#include "report/summary.h"

#include <string>
#include <vector>

namespace sweep::report {

// Where the run stands, in Prometheus' text format 0.0.4: items by model and outcome, tokens and
// dollars by model, and whether it is at work. docs/operation.md names the series. The live server
// serves it as /metrics, and the file may be read by a collector of text files.
[[nodiscard]] std::string metrics_text(const Context& context, const std::vector<Row>& rows);

}  // namespace sweep::report
