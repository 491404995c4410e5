#pragma once

#include "agent/tools.h"

namespace sweep::agent {

// An evaluation of `kernel` as the settings say; stages and depth are the caller's.
[[nodiscard]] evaluate::EvaluationRequest request_for(const std::string& kernel,
                                                      const ToolSettings& settings);

// What `tool` says about an evaluation, also about one in which the harness failed, in a
// conversation that has `tools`.
[[nodiscard]] ToolOutcome judged(const std::string& tool,
                                 const std::string& kernel,
                                 const evaluate::Evaluation& evaluation,
                                 const std::vector<std::string>& tools = config::all_tools());

// static_check, compile_kernel, run_correctness and submit_kernel.
[[nodiscard]] ToolOutcome judge(const std::string& tool,
                                const std::string& kernel,
                                const ToolSettings& settings,
                                Evaluator& evaluator);

}  // namespace sweep::agent
