#pragma once

#include "endpoint/conversation.h"

#include <string>
#include <string_view>
#include <vector>

namespace sweep::endpoint {

// Checks the arguments of a call as they came and makes repairs that cannot change their meaning:
// white space and special tokens at the end, raw control characters inside strings. Absent
// arguments become "{}". What is still no object gets a `problem` for the model; open strings or
// brackets are never closed.
void check_arguments(ToolCall& call, bool cut_by_limit);

// Calls that a model wrote into its text, for endpoints without native tool calls: Hermes
// `<tool_call>{json}</tool_call>`, else a fenced block whose whole content is one JSON object that
// names one of `tools` ({"name" | "tool", "arguments" | "parameters"}).
[[nodiscard]] std::vector<ToolCall> calls_in_text(std::string_view text,
                                                  const std::vector<std::string>& tools);

// True when the text holds markup of tool calls that calls_in_text does not read.
[[nodiscard]] bool has_tool_markup(std::string_view text);

struct ThinkSplit {
  std::string reasoning;
  std::string text;
};

// Takes a leading <think>..</think> out of an answer; without its opening tag only when the text
// before the last closing tag has no code fence. Unclosed: all of it is reasoning.
[[nodiscard]] ThinkSplit split_think(std::string_view text);

}  // namespace sweep::endpoint
