#pragma once

#include "record/trajectory.h"
#include "report/markup.h"
#include "report/shown_text.h"

#include <string>

namespace sweep::report {

// Sections "turn-1".. with what was said and called in each; reasoning folded, failures open, each
// kernel beside what changed since the version before.
[[nodiscard]] Markup turn_sections(const record::Trajectory& trajectory, ShownText& shown);

// Links to the turns, coloured by whether their tool calls succeeded.
[[nodiscard]] Markup turn_strip(const record::Trajectory& trajectory);

// When the model and the tools worked, and the tokens of each turn, as figures with one table.
[[nodiscard]] Markup turn_figures(const record::Trajectory& trajectory);

// "compile error, correct on the visible shapes x2, submitted: PASS_SLOWER": what the tool calls
// came to, in order; empty without any.
[[nodiscard]] std::string story_of(const record::Trajectory& trajectory);

}  // namespace sweep::report
