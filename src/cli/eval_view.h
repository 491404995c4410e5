#pragma once

#include "cli/style.h"
#include "evaluate/evaluation.h"

#include <string>

namespace sweep::cli {

// One line for a finished stage: " check    ok   0.21 s  3 shapes x 5 draws; worst error 31% of
// what is allowed".
[[nodiscard]] std::string stage_line(const evaluate::Evaluation& evaluation,
                                     evaluate::Stage stage,
                                     const Style& style,
                                     std::size_t width = 0);

// The whole verdict as a person reads it: head line, stages, failure or table of shapes, verdict
// word, next step. Paragraphs keep to `width` columns (0: no limit); logs, tables and commands stay
// as they are. Text from the submission is made printable.
[[nodiscard]] std::string eval_text(const evaluate::Evaluation& evaluation,
                                    const Style& style,
                                    std::size_t width = 0);

// "PASS_FASTER 1.71x [1.70, 1.72]": the only line under --quiet.
[[nodiscard]] std::string verdict_line(const evaluate::Evaluation& evaluation, const Style& style);

}  // namespace sweep::cli
