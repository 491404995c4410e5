#pragma once

#include "agent/tools.h"
#include "record/trajectory.h"

#include <string>
#include <vector>

namespace sweep::queue {

// Where a conversation that was led again differs from the recorded one: its number of turns, what
// was sent and answered, tool calls with their results, how it ended. "turn 2: ..."; empty:
// nowhere.
[[nodiscard]] std::vector<std::string> differences(const record::Trajectory& recorded,
                                                   const record::Trajectory& now);

// Why the same kernel has another verdict now; empty: it has not. Verdicts that differ only in how
// fast a correct kernel is are the same: times scatter.
[[nodiscard]] std::string judged_differently(const agent::ToolOutcome& recorded,
                                             const agent::ToolOutcome& now);

}  // namespace sweep::queue
