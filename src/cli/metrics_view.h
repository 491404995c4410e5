#pragma once

#include "cli/style.h"
#include "evaluate/evaluation.h"

#include <cstddef>
#include <string>

namespace sweep::cli {

// "SM clock 1980 of 1980 MHz, 320 W, 41 C, held back by power cap"; empty where nothing was read.
[[nodiscard]] std::string conditions_text(const device::Conditions& conditions);

// A table of what each timed shape reaches, then what it was measured at and why figures are
// missing. Empty where there are no metrics.
[[nodiscard]] std::string metrics_text(const evaluate::Evaluation& evaluation,
                                       const Style& style,
                                       std::size_t width);

}  // namespace sweep::cli
