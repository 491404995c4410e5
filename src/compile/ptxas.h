#pragma once

#include "compile/job.h"
#include "compile/tool.h"

#include <string>

namespace sweep::compile {

// Runs ptxas on "unit.ptx" in the work folder, which makes "unit.cubin".
[[nodiscard]] ToolRun run_ptxas(const Job& job, double seconds);

// Bytes of "unit.cubin".
[[nodiscard]] std::vector<std::byte> read_cubin(const Job& job);

// Outcome of a tool that did not end well; `log` as it may be shown.
[[nodiscard]] Outcome tool_failure(const ToolRun& run, const std::string& log);

}  // namespace sweep::compile
