#pragma once

#include "record/ledger.h"
#include "report/summary.h"

#include <string>
#include <vector>

namespace sweep::report {

enum class Phase { unknown, running, ended, interrupted };

// "running"; empty for unknown.
[[nodiscard]] std::string name(Phase phase);

// Where a run stands by its rows. `alive`: a process works on it. A run whose last process ended
// without a run_end row was interrupted, unless nothing was left. Unknown without rows.
[[nodiscard]] Phase phase_of(const std::vector<record::Row>& rows, bool alive, bool all_ended);

[[nodiscard]] bool all_ended(const std::vector<Row>& items);

// "3 of 8 items finished, 2 in progress, 3 queued".
[[nodiscard]] std::string progress_text(const std::vector<Row>& items);

}  // namespace sweep::report
