#include "agent/harness.h"

#include <algorithm>

namespace sweep::agent {

bool Harness::has(std::string_view tool) const {
  return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

Harness make_harness(const config::Agent& agent) {
  Harness out;
  static_cast<config::Harness&>(out) = agent.harness;
  out.tool_required = out.max_turns == 1 || (out.tries() && out.tools.size() == 1);
  out.tool_output_max = agent.tool_output_context_max_chars;
  out.reasoning_log_max = agent.reasoning_context_max_chars;
  out.tail_messages = agent.chat_context_tail_messages.value_or(0);
  return out;
}

}  // namespace sweep::agent
