#pragma once

#include "cli/style.h"
#include "evaluate/evaluation.h"

#include <optional>
#include <string>

namespace sweep::cli {

// The evaluations that `sweep eval --watch` compares the next one with.
struct WatchPast {
  std::optional<evaluate::Evaluation> last;
  std::optional<evaluate::Evaluation> timed;  // the last one with a speedup
};

// One line: " change   PASS_EQUIVALENT 1.010x -> PASS_FASTER 1.520x, about 50% faster". Empty for
// the first evaluation. The two were timed in sessions of their own, hence "about".
[[nodiscard]] std::string change_text(const WatchPast& past,
                                      const evaluate::Evaluation& now,
                                      const Style& style,
                                      std::size_t width = 0);

// Takes an evaluation in as the newest.
void remember(WatchPast& past, const evaluate::Evaluation& now);

}  // namespace sweep::cli
