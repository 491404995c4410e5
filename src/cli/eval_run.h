#pragma once

#include "cli/eval_options.h"
#include "cli/requirement.h"
#include "evaluate/evaluation.h"
#include "profile/report.h"

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <string>
#include <vector>

namespace sweep::cli {

// One evaluation of `sweep eval` with all that was asked besides.
struct Judged {
  evaluate::Evaluation evaluation;
  profile::Report tools;
  std::exception_ptr broken;  // util::Error of a tool; said behind the verdict
  std::vector<RequirementResult> requirements;
};

// Reads the files and judges once. Throws as to_request() and evaluate() do, and where the folder
// of --dump cannot be made.
[[nodiscard]] Judged judge_once(const EvalOptions& options,
                                const EvalTask& task,
                                const evaluate::Services& services);

[[nodiscard]] nlohmann::json to_json(const Judged& judged, const EvalTask& task);

// As a person reads it on standard output; under --quiet the verdict line and the requirements.
[[nodiscard]] std::string judged_text(const Judged& judged, const EvalOptions& options);

// Judges the variants one after another, the best once more, prints the table; the exit code.
[[nodiscard]] int run_scan(const EvalOptions& options,
                           const EvalTask& task,
                           const evaluate::Services& services);

// Judges again on each save until SIGINT, which ends the program with kDone. The first evaluation
// throws as judge_once() does; later errors are printed and the next save is waited for.
[[noreturn]] void run_watch(const EvalOptions& options,
                            const EvalTask& task,
                            const evaluate::Services& services);

}  // namespace sweep::cli
