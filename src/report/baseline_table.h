#pragma once

#include "record/trajectory.h"
#include "report/markup.h"

namespace sweep::report {

// How the final kernel stands against each library baseline that was recorded on its GPU; nothing
// where the stored evaluation has none. The record may hold anything.
[[nodiscard]] Markup baseline_table(const record::FinalResult& result);

}  // namespace sweep::report
