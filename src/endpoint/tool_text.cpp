#include "endpoint/tool_text.h"

#include "endpoint/json.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxArguments = std::size_t{1} << 20;
constexpr std::size_t kMaxTextCalls = 16;

// Raw newlines and tabs inside strings, which models write and JSON forbids, become escapes.
std::string escape_controls(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
    } else if (in_string && static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : std::string("\\u00") + digits[static_cast<unsigned char>(c) >> 4] +
                               digits[c & 15];
    } else {
      in_string = c == '"' ? !in_string : in_string;
      out += c;
    }
  }
  return out;
}

std::string_view without_special_tokens(std::string_view text) {
  constexpr std::array<std::string_view, 5> tokens = {
      "<|call|>", "<|end|>", "<|eot_id|>", "<|im_end|>", "</s>"};
  bool again = true;
  while (again) {
    again = false;
    text = util::trim(text);
    for (const std::string_view token : tokens)
      if (text.ends_with(token)) {
        text.remove_suffix(token.size());
        again = true;
      }
  }
  return text;
}

std::optional<ToolCall> call_from_json(std::string_view text,
                                       const std::vector<std::string>& tools) {
  auto json = parse_json(without_special_tokens(text));
  if (!json)
    json = parse_json(escape_controls(without_special_tokens(text)));
  if (!json || !json->is_object())
    return std::nullopt;
  restore(*json);
  const Json* function = member(*json, "function");
  const Json& body = function != nullptr && function->is_object() ? *function : *json;
  ToolCall call;
  call.from_text = true;
  call.name = text_at(body, "name");
  if (call.name.empty())
    call.name = text_at(body, "tool");
  if (std::find(tools.begin(), tools.end(), call.name) == tools.end())
    return std::nullopt;
  const Json* arguments = member(body, "arguments");
  if (arguments == nullptr)
    arguments = member(body, "parameters");
  if (arguments != nullptr)
    call.arguments = arguments->is_string() ? arguments->get<std::string>() : dump(*arguments);
  check_arguments(call, false);
  return call;
}

// Contents of fenced blocks: text between a line that starts with ``` and the next such line.
std::vector<std::string_view> fences(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t open = std::string_view::npos;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (util::trim(text.substr(at, end - at)).starts_with("```")) {
      if (open == std::string_view::npos) {
        open = std::min(end + 1, text.size());
      } else {
        out.push_back(text.substr(open, at - open));
        open = std::string_view::npos;
      }
    }
    at = end + 1;
  }
  return out;
}

}  // namespace

void check_arguments(ToolCall& call, bool cut_by_limit) {
  const std::string_view trimmed = util::trim(call.arguments);
  if (trimmed.empty() || trimmed == "null") {
    call.arguments = "{}";
    return;
  }
  if (call.arguments.size() > kMaxArguments) {
    call.problem = "the arguments are larger than 1 MiB";
    return;
  }
  const std::string plain(without_special_tokens(trimmed));
  for (const std::string& candidate : {std::string(trimmed), plain, escape_controls(plain)}) {
    const auto json = parse_json(candidate);
    if (!json)
      continue;
    if (!json->is_object()) {
      call.problem = std::string("the arguments must be a JSON object, not ") + json->type_name();
      return;
    }
    call.repaired = call.repaired || candidate != call.arguments;
    call.arguments = candidate;
    return;
  }
  call.problem =
      cut_by_limit ? "the arguments were cut off by the output limit: send the call again, shorter"
                   : "the arguments are not valid JSON: send the call again";
}

std::vector<ToolCall> calls_in_text(std::string_view text, const std::vector<std::string>& tools) {
  std::vector<ToolCall> calls;
  constexpr std::string_view open = "<tool_call>";
  constexpr std::string_view close = "</tool_call>";
  for (std::size_t at = text.find(open);
       at != std::string_view::npos && calls.size() < kMaxTextCalls;
       at = text.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    const std::size_t end = text.find(close, begin);
    if (auto call = call_from_json(
            text.substr(begin, end == std::string_view::npos ? end : end - begin), tools))
      calls.push_back(std::move(*call));
  }
  if (calls.empty())
    for (const std::string_view block : fences(text))
      if (auto call = call_from_json(block, tools); call && calls.size() < kMaxTextCalls)
        calls.push_back(std::move(*call));
  return calls;
}

bool has_tool_markup(std::string_view text) {
  constexpr std::array<std::string_view, 6> marks = {"<tool_call>",
                                                     "<function=",
                                                     "<tools>",
                                                     "<|python_tag|>",
                                                     "<|tool_calls_section_begin|>",
                                                     "<arg_key>"};
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
}

ThinkSplit split_think(std::string_view text) {
  constexpr std::string_view open = "<think>";
  constexpr std::string_view close = "</think>";
  const std::string_view start =
      text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const bool opened = start.starts_with(open);
  const std::size_t end = opened ? text.find(close) : text.rfind(close);
  if (end == std::string_view::npos)
    return opened ? ThinkSplit{std::string(start.substr(open.size())), {}}
                  : ThinkSplit{{}, std::string(text)};
  const std::string_view inside =
      opened ? start.substr(open.size(), start.size() - open.size() - (text.size() - end))
             : text.substr(0, end);
  if (!opened && inside.find("```") != std::string_view::npos)
    return {{}, std::string(text)};
  return {std::string(util::trim(inside)),
          std::string(util::trim(text.substr(end + close.size())))};
}

}  // namespace sweep::endpoint
