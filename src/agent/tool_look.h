#pragma once

#include "agent/tools.h"

namespace sweep::agent {

// profile_kernel, disassemble_kernel, sanitize_kernel and ert_roofline. A tool that is not there or
// may not work is an outcome without success ("unavailable" in its metadata), never an infra error;
// `infra` only where the judge itself failed. On the cpu device none of them has a meaning, and
// each says so.
[[nodiscard]] ToolOutcome look(const std::string& tool,
                               const std::string& kernel,
                               const ToolSettings& settings,
                               Evaluator& evaluator);

}  // namespace sweep::agent
