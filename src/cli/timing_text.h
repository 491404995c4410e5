#pragma once

#include "evaluate/evaluation.h"

#include <string>

namespace sweep::cli {

// "1.31x [1.29, 1.33]"
[[nodiscard]] std::string interval_text(const evaluate::Interval& ratio);

// "1.29 .. 1.33"
[[nodiscard]] std::string bounds_text(const evaluate::Interval& ratio);

}  // namespace sweep::cli
