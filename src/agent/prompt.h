#pragma once

#include "agent/agent.h"
#include "agent/harness.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sweep::agent {

// Text of a built-in prompt with each {{name}} replaced. InfraError E_PROMPT when the prompt or a
// value is missing: prompts and code are built together, so that is a fault of this program.
using Values = std::initializer_list<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string fill_prompt(std::string_view file, const Values& values = {});

[[nodiscard]] std::string system_prompt(const Harness& harness);
[[nodiscard]] std::string task_prompt(const Task& task, bool cpu);

}  // namespace sweep::agent
