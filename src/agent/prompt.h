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

// What the first message holds besides the problem.
struct Shown {
  bool cpu = false;        // that the device is an emulation
  bool seed = false;       // the baseline's text, where the task has it
  std::string hub;         // fact sheets: "", "sm_80", "sm_90a"
  std::string source_gpu;  // a translation's source device, as it is called
  problem::IsaPolicy isa = problem::IsaPolicy::off;
};

// As the sweep, its harness and the task have it. Policy and sheets are for GPUs only; `auto` takes
// the sheets of the device's architecture, those of sm_80 for a later one without its own.
[[nodiscard]] Shown shown_by(const config::SweepConfig& config,
                             const Harness& harness,
                             const Task& task,
                             device::Kind kind);

[[nodiscard]] std::string system_prompt(const Harness& harness);
[[nodiscard]] std::string task_prompt(const Task& task, const Shown& shown);

// Number of the prompts, raised with every change of what they say (docs/prompts.md).
[[nodiscard]] int prompts_version();

}  // namespace sweep::agent
