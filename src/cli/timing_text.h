#pragma once

#include "evaluate/evaluation.h"

#include <string>

namespace sweep::cli {

// The session whose interval the verdict rests on: held-out where it ran and decided, else visible.
// Null where no shape was timed, or a timed call was wrong.
[[nodiscard]] const evaluate::TimeResult* deciding_time(const evaluate::Evaluation& evaluation);

// "1.31x [1.29, 1.33]"
[[nodiscard]] std::string interval_text(const evaluate::Interval& ratio);

// "1.29 .. 1.33"
[[nodiscard]] std::string bounds_text(const evaluate::Interval& ratio);

}  // namespace sweep::cli
