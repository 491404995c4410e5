#pragma once

#include "report/markup.h"
#include "report/row.h"

#include <string>

namespace sweep::report {

// An outcome for a reader: "does not compile" for "compile_fail"; an unknown one as it is.
[[nodiscard]] std::string outcome_words(const std::string& outcome);

// What a stop_reason means, e.g. "its turns were used up (turns)"; an unknown one as it is.
[[nodiscard]] std::string stop_words(const std::string& reason);

// "faster", "equivalent", "slower", "unstable" or "inconclusive" for a correct kernel by its
// verdict alone, whatever its ratio is; "no kernel" for an error without a submission; else
// outcome_words().
[[nodiscard]] std::string standing(const Row& row);

// The class that colours a result: "faster", the only green one, for PASS_FASTER; "equivalent",
// "slower", "inconclusive" for other correct kernels; a known outcome; or nothing, as where no
// kernel was handed in.
[[nodiscard]] std::string tone(const Row& row);

// The command that shows the item's result again, in the run's folder: the evaluation knew the
// submission as kernel.cu, and there it stands beside the trajectory, whose page is t/<path>.html.
[[nodiscard]] std::string command_of(const Row& row);

// An endpoint's address without user, password, query and fragment.
[[nodiscard]] std::string without_secrets(const std::string& url);

// A label in that colour.
[[nodiscard]] Markup badge(const Row& row, const std::string& words);

}  // namespace sweep::report
