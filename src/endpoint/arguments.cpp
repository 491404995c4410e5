#include "endpoint/arguments.h"

#include "endpoint/json.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sweep::endpoint {
namespace {

// Where the parser gave up, for the model: " (byte 17 of 40)".
std::string place_of_error(const std::string& text) {
  try {
    const Json sound = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return " (byte " + std::to_string(error.byte) + " of " + std::to_string(text.size()) + ")";
  } catch (const Json::exception&) {
    return {};
  }
  return {};
}

// The text without the quotes that some servers leave behind the object; the text itself when
// anything else stands there.
std::string_view without_stray_quotes(std::string_view text) {
  const std::size_t length = json_length(text);
  const std::string_view rest = text.substr(length);
  return length > 0 && rest.find_first_not_of("\"'` \t\r\n") == std::string_view::npos
             ? text.substr(0, length)
             : text;
}

bool holds_two_objects(std::string_view text) {
  const std::size_t length = json_length(text);
  return length > 0 && util::trim(text.substr(length)).starts_with('{');
}

// The object as text when `json` is one, or (repaired) a string of one; else nullopt and, in
// `problem`, what it is.
std::optional<std::string> object_text(const Json& json,
                                       const std::string& text,
                                       Repair repair,
                                       std::string& problem) {
  if (json.is_object())
    return text;
  if (json.is_string() && repair == Repair::safe) {
    const std::string inner = json.get<std::string>();
    if (const auto second = parse_json(inner); second && second->is_object())
      return inner;
  }
  problem = std::string("the arguments must be a JSON object, not ") + json.type_name();
  return std::nullopt;
}

}  // namespace

std::string escape_controls(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
    } else if (in_string && byte < 0x20) {
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : std::string("\\u00") + digits[byte >> 4] + digits[byte & 15];
    } else {
      in_string = c == '"' ? !in_string : in_string;
      out += c;
    }
  }
  return out;
}

std::string_view without_special_tokens(std::string_view text) {
  constexpr std::array<std::string_view, 7> tokens = {
      "<|call|>", "<|end|>", "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|endoftext|>", "</s>"};
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

std::size_t json_length(std::string_view text) {
  if (!text.starts_with('{') && !text.starts_with('['))
    return 0;
  std::size_t length = 0;
  walk_brackets(text, [&](std::int64_t depth, std::size_t at) {
    length = depth == 0 ? at + 1 : 0;
    return length > 0;
  });
  return length;
}

void check_arguments(ToolCall& call, bool cut_by_limit, Repair repair) {
  const std::string_view trimmed = util::trim(call.arguments);
  if (trimmed.empty() || trimmed == "null") {
    call.arguments = "{}";
    return;
  }
  if (call.arguments.size() > kMaxArguments) {
    call.problem = "the arguments are larger than 1 MiB, which no tool takes: send a shorter text";
    return;
  }
  std::vector<std::string> candidates = {call.arguments};
  const std::string plain(without_stray_quotes(without_special_tokens(trimmed)));
  if (repair == Repair::safe) {
    candidates.push_back(plain);
    candidates.push_back(escape_controls(plain));
  }
  for (const std::string& candidate : candidates) {
    const auto json = parse_json(candidate);
    if (!json)
      continue;
    if (auto object = object_text(*json, candidate, repair, call.problem)) {
      call.repaired = call.repaired || *object != call.arguments;
      call.arguments = std::move(*object);
    }
    return;
  }
  if (holds_two_objects(plain))
    call.problem = "the arguments hold more than one JSON object: make one call for each";
  else if (cut_by_limit)
    call.problem = "the arguments were cut off by the output limit: send the call again, shorter";
  else
    call.problem =
        "the arguments are not valid JSON" + place_of_error(plain) + ": send the call again";
}

}  // namespace sweep::endpoint
