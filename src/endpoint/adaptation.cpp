#include "endpoint/adaptation.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sweep::endpoint {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// `word` stands in `text` with no letter, digit or '_' at its sides.
bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end])))
      return true;
  }
  return false;
}

bool holds_quoted(std::string_view text, const std::string& word) {
  return std::any_of(std::begin("'\"`"), std::end("'\"`") - 1, [&](char quote) {
    return text.find(quote + word + quote) != std::string_view::npos;
  });
}

// Members whose names are words of plain English count only in quotes or as the error's `param`.
bool names(const WireError& error, const std::string& text, const std::string& member_name) {
  if (error.param == member_name || error.param.starts_with(member_name + "."))
    return true;
  constexpr std::array<std::string_view, 5> english = {
      "include", "reasoning", "stop", "thinking", "provider"};
  if (std::find(english.begin(), english.end(), member_name) != english.end())
    return holds_quoted(text, member_name);
  return holds_word(text, member_name);
}

// Members that a request works without.
constexpr std::array<std::string_view, 15> kOptional = {"stream_options",
                                                        "temperature",
                                                        "top_p",
                                                        "seed",
                                                        "reasoning_effort",
                                                        "parallel_tool_calls",
                                                        "tool_choice",
                                                        "include",
                                                        "reasoning",
                                                        "stop",
                                                        "presence_penalty",
                                                        "frequency_penalty",
                                                        "store",
                                                        "thinking",
                                                        "provider"};

bool swap_token_field(Adaptation& adaptation,
                      const WireError& error,
                      const std::string& text,
                      const Json& body) {
  if (adaptation.token_field)
    return false;
  const bool is_new = body.contains("max_completion_tokens");
  if (is_new && names(error, text, "max_completion_tokens")) {
    adaptation.token_field = TokenField::max_tokens;
    return true;
  }
  // "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead."
  if (!is_new && body.contains("max_tokens") && names(error, text, "max_tokens") &&
      (error.code == "unsupported_parameter" ||
       text.find("max_completion_tokens") != std::string::npos)) {
    adaptation.token_field = TokenField::max_completion_tokens;
    return true;
  }
  return false;
}

// A server that wants an assistant's content otherwise: null becomes "", anything else a word.
bool swap_empty_content(Adaptation& adaptation,
                        const WireError& error,
                        const std::string& text,
                        const Profile& profile) {
  const bool about = error.param.ends_with("content");
  const bool words = holds_word(text, "content") &&
                     (holds_word(text, "null") || holds_word(text, "none") ||
                      holds_word(text, "empty") || text.find("non-empty") != std::string::npos ||
                      holds_word(text, "string") || holds_word(text, "required"));
  if (adaptation.empty_content || (!about && !words))
    return false;
  adaptation.empty_content =
      profile.empty_content == EmptyContent::null || profile.empty_content == EmptyContent::omit
          ? EmptyContent::empty
          : EmptyContent::placeholder;
  return true;
}

bool has_empty_assistant(const Json& body) {
  const Json* messages = member(body, "messages");
  return messages != nullptr && messages->is_array() &&
         std::any_of(messages->begin(), messages->end(), [](const Json& message) {
           return text_at(message, "role") == "assistant" && text_at(message, "content").empty();
         });
}

}  // namespace

bool learn(Adaptation& adaptation,
           int status,
           const WireError& error,
           const Json& body,
           const Profile& profile) {
  if ((status != 400 && status != 422) || profile.strict_params)
    return false;
  const std::string text = lower_case(error.message);
  if (swap_token_field(adaptation, error, text, body))
    return true;
  for (const std::string_view name : kOptional)
    if (body.contains(name) && names(error, text, std::string(name)) &&
        adaptation.dropped.emplace(name).second)
      return true;
  return has_empty_assistant(body) && swap_empty_content(adaptation, error, text, profile);
}

void flag_changes(const Adaptation& adaptation,
                  const Profile& profile,
                  const Settings& settings,
                  Completion& completion) {
  for (const std::string& name : adaptation.dropped)
    completion.flags.push_back("param_dropped:" + name);
  if (adaptation.token_field)
    completion.flags.emplace_back(*adaptation.token_field == TokenField::max_tokens
                                      ? "param_renamed:max_tokens"
                                      : "param_renamed:max_completion_tokens");
  if (adaptation.empty_content)
    completion.flags.emplace_back("empty_content_changed");
  const std::array<std::pair<std::string_view, bool>, 4> set = {
      {{"temperature", settings.temperature.has_value()},
       {"top_p", settings.top_p.has_value()},
       {"seed", settings.seed.has_value()},
       {"reasoning_effort", !settings.reasoning_effort.empty()}}};
  for (const auto& [name, is_set] : set)
    if (is_set && std::find(profile.omit.begin(), profile.omit.end(), name) != profile.omit.end())
      completion.flags.push_back("param_withheld:" + std::string(name));
  if (settings.tool_required && profile.tool_choice != ToolChoice::all)
    completion.flags.emplace_back("param_withheld:tool_choice");
}

void finish_completion(Completion& completion, const Target& target, std::size_t request_bytes) {
  Message& message = completion.message;
  for (std::string* text : {&message.text, &message.reasoning, &message.raw})
    *text = redact(std::move(*text), target.key);
  for (ToolCall& call : message.calls)
    call.arguments = redact(std::move(call.arguments), target.key);
  std::size_t bytes = message.text.size() + message.reasoning.size();
  for (const ToolCall& call : message.calls)
    bytes += call.arguments.size() + call.name.size();
  // Some servers count nothing and say 0.
  const bool nothing = completion.usage.input == 0 && completion.usage.output == 0 && bytes > 0;
  if (completion.usage.input < 0 || completion.usage.output < 0 || nothing) {
    completion.usage = {};
    completion.usage.input = static_cast<std::int64_t>(request_bytes / 4);
    completion.usage.output = static_cast<std::int64_t>(bytes / 4);
    completion.usage.estimated = true;
    completion.flags.emplace_back("usage_estimated");
  }
  if (!completion.model.empty() && completion.model.find(target.model) == std::string::npos)
    completion.flags.emplace_back("model_mismatch");
}

}  // namespace sweep::endpoint
