#pragma once

#include "endpoint/json.h"
#include "endpoint/tool_text.h"

#include <cstddef>
#include <optional>
#include <string_view>

// Readers of the single formats of tool calls in text. Internal to tool_text.
namespace sweep::endpoint {

struct Found {
  std::vector<ToolCall> calls;
  std::size_t length = 0;  // bytes of the text that they take
};

using TextReader = std::optional<Found> (*)(std::string_view, const Offer&);

// Each reads what its first argument begins with; nullopt unless all of it is well formed and the
// tools are offered.
// <tool_call>{"name":..,"arguments":{..}}</tool_call>, also with <tools>
[[nodiscard]] std::optional<Found> read_hermes(std::string_view text, const Offer& offer);
// [<tool_call>]<function=NAME><parameter=P>value</parameter></function>[</tool_call>], or
// <function=NAME>{..}</function>
[[nodiscard]] std::optional<Found> read_qwen3_xml(std::string_view text, const Offer& offer);
// <tool_call>NAME<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>
[[nodiscard]] std::optional<Found> read_glm(std::string_view text, const Offer& offer);
// [<|tool_calls_section_begin|>]<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{..}
// <|tool_call_end|>[<|tool_calls_section_end|>]
[[nodiscard]] std::optional<Found> read_kimi(std::string_view text, const Offer& offer);
// <|python_tag|> or <|tool_call_start|> and [f(a=1), g(b="x")], f.call(a=1) or a JSON call; without
// either token a list that is all of the text
[[nodiscard]] std::optional<Found> read_pythonic(std::string_view text, const Offer& offer);

// One call, or a list of calls, that `text` is as a whole; empty unless every one is sound.
[[nodiscard]] std::vector<ToolCall> calls_from_json(std::string_view text,
                                                    const Offer& offer,
                                                    Markup markup);

// A call with the members of `arguments`; nullopt unless the tool is offered.
[[nodiscard]] std::optional<ToolCall> make_call(std::string_view name,
                                                const Json& arguments,
                                                const Offer& offer,
                                                Markup markup);

}  // namespace sweep::endpoint
