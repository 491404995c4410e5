#include "agent/harness.h"

#include <algorithm>
#include <array>

namespace sweep::agent {
namespace {

constexpr std::array<std::string_view, 5> kHarnessTools = {
    "compile_kernel", "run_correctness", "get_gpu_specs", "static_check", "submit_kernel"};

}  // namespace

bool Harness::has(const std::string& tool) const {
  return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

std::string unsupported(const config::Agent& agent) {
  if (agent.harness == config::Harness::single_turn ||
      agent.harness == config::Harness::default_tools)
    return {};
  return "harness '" + std::string(config::name(agent.harness)) +
         "' comes with a later version; use single_turn or default";
}

Harness make_harness(const config::Agent& agent) {
  Harness out;
  out.kind = agent.harness;
  const bool single = agent.harness == config::Harness::single_turn;
  for (const std::string_view tool : kHarnessTools) {
    const bool wanted =
        std::find(agent.tools.begin(), agent.tools.end(), tool) != agent.tools.end() ||
        (agent.tools.empty() && !single);
    if (tool == "submit_kernel" || (wanted && !single))
      out.tools.emplace_back(tool);
  }
  out.max_turns = single ? 1 : std::max<std::int64_t>(agent.max_turns, 1);
  out.max_tool_calls = single ? 1 : std::max<std::int64_t>(agent.max_tool_calls, 1);
  out.warn_turns_remaining = agent.warn_turns_remaining;
  out.tool_required = out.max_turns == 1;
  out.tool_output_max = agent.tool_output_context_max_chars;
  out.reasoning_log_max = agent.reasoning_context_max_chars;
  out.tail_messages = agent.chat_context_tail_messages.value_or(0);
  return out;
}

}  // namespace sweep::agent
