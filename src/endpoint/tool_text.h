#pragma once

#include "endpoint/conversation.h"
#include "endpoint/profile.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::endpoint {

// The tools that a request offers.
struct Offer {
  std::vector<std::string> tools;
  // JSON Schema types of parameters by (tool, parameter): "string", "integer", ...
  std::map<std::pair<std::string, std::string>, std::string> types;
};

struct TextCalls {
  std::vector<ToolCall> calls;
  bool left = false;  // markup of tool calls stands in the text that was not read as a call
};

// Calls that a model wrote into its text, in the `formats` given. Only whole, well-formed calls of
// offered tools are taken: no string, bracket or tag is ever closed for the model. What stands in a
// fenced block is code, not a call, unless `fenced` is among the formats and the block is nothing
// but calls; `json` likewise takes a text that is nothing but a JSON call.
[[nodiscard]] TextCalls calls_in_text(std::string_view text,
                                      const Offer& offer,
                                      const std::vector<Markup>& formats);

// True when markup of tool calls, of any known server, stands outside fenced blocks.
[[nodiscard]] bool has_tool_markup(std::string_view text);

}  // namespace sweep::endpoint
