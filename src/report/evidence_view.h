#pragma once

#include "record/trajectory.h"
#include "report/markup.h"
#include "report/shown_text.h"

namespace sweep::report {

// What the judge saw of the final kernel: its stages, each failure with its numbers, the compiled
// kernels, and every call of check and stress. The stored evaluation may hold anything.
[[nodiscard]] Markup evidence_view(const record::FinalResult& result, ShownText& shown);

// The failures alone, each with the stage that saw it, the numbers and the hint; nothing where
// there is none.
[[nodiscard]] Markup failure_list(const record::FinalResult& result);

}  // namespace sweep::report
