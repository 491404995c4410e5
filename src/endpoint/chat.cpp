#include "endpoint/chat_stream.h"
#include "endpoint/protocol.h"
#include "endpoint/think.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sweep::endpoint {
namespace {

// Text of `content`: a string, or the text parts of a list.
std::string content_text(const Json* content) {
  if (content == nullptr)
    return {};
  if (content->is_string())
    return content->get<std::string>();
  std::string text;
  if (content->is_array())
    for (const Json& part : *content)
      text += text_at(part, "text");
  return text;
}

std::string text_of_parts(const Json& parts) {
  if (parts.is_string())
    return parts.get<std::string>();
  std::string text;
  if (parts.is_array())
    for (const Json& part : parts)
      text += text_at(part, "text") + text_at(part, "summary");
  return text;
}

std::string reasoning_text(const Json& message, const Profile& profile) {
  for (const std::string& key : profile.reasoning_read)
    if (const Json* value = member(message, key))
      if (std::string text = text_of_parts(*value); !text.empty())
        return text;
  return {};
}

Finish finish_of(const std::string& reason) {
  if (reason == "stop" || reason == "end_turn" || reason.empty())
    return Finish::stop;
  if (reason == "tool_calls" || reason == "function_call")
    return Finish::tool_calls;
  if (reason == "length" || reason == "model_context_window_exceeded")
    return Finish::length;
  return reason == "content_filter" || reason == "sensitive" ? Finish::content_filter
                                                             : Finish::other;
}

// Words for an answer that the server, not the model, ended.
bool failed_by_server(const std::string& reason) {
  constexpr std::array<std::string_view, 5> kFailed = {
      "insufficient_system_resource", "network_error", "error", "server_error", "abort"};
  return std::find(kFailed.begin(), kFailed.end(), reason) != kFailed.end();
}

ToolCall call_of(const Json& json) {
  ToolCall call;
  call.id = text_at(json, "id");
  const Json* function = member(json, "function");
  if (function == nullptr)
    return call;
  call.name = text_at(*function, "name");
  if (const Json* arguments = member(*function, "arguments"))
    call.arguments = arguments->is_string() ? arguments->get<std::string>() : dump(*arguments);
  return call;
}

// The message as it goes back: what servers reject in a request (nulls, empty lists) is left out.
Json replayable_message(Json message) {
  Json out = Json::object();
  out["role"] = "assistant";
  for (auto& [key, value] : message.items())
    if (key == "content" || (!value.is_null() && !(value.is_array() && value.empty())))
      out[key] = std::move(value);
  if (!out.contains("content"))
    out["content"] = nullptr;
  return out;
}

Json call_json(const ToolCall& call) {
  return {{"id", call.id},
          {"type", "function"},
          {"function",
           {{"name", sendable_name(call.name)},
            {"arguments", call.problem.empty() ? call.arguments : "{}"}}}};
}

// Calls as they were understood: broken arguments in the history make later requests fail.
Json replayed_calls(const Message& message, const Json* original) {
  Json calls = Json::array();
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    if (message.calls[i].from_text)
      continue;
    Json call = original != nullptr && original->is_array() && i < original->size() &&
                        (*original)[i].is_object()
                    ? (*original)[i]
                    : Json::object();
    const Json understood = call_json(message.calls[i]);
    for (const auto& [key, value] : understood.items()) {
      if (key == "function" && call.contains("function") && call["function"].is_object())
        call[key].update(value);
      else
        call[key] = value;
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

void replay_reasoning(Json& out, const Message& message, const Profile& profile) {
  if (profile.reasoning_replay == Replay::same_field)
    return;
  if (profile.reasoning_replay == Replay::both) {
    if (const std::string text = reasoning_text(out, profile); !text.empty())
      for (const char* key : {"reasoning_content", "reasoning"})
        out[key] = text;
    return;
  }
  for (const char* key : {"reasoning_content", "reasoning", "reasoning_details"})
    out.erase(key);
  for (const std::string& key : profile.reasoning_read)
    out.erase(key);
  if (const Json* content = member(out, "content");
      content != nullptr && content->is_string() && !message.reasoning.empty())
    out["content"] = message.text;
}

// `style` for a message without text; null where servers take it, so only beside calls.
void replay_empty_content(Json& out, EmptyContent style) {
  const Json* content = member(out, "content");
  if (content != nullptr &&
      !(content->is_string() && content->get_ref<const std::string&>().empty()))
    return;
  const bool calls = out.contains("tool_calls");
  if (style == EmptyContent::placeholder)
    out["content"] = "(no content)";
  else if (style == EmptyContent::empty || !calls)
    out["content"] = "";
  else if (style == EmptyContent::omit)
    out.erase("content");
  else if (content == nullptr)
    out["content"] = nullptr;
}

Json assistant_json(const Message& message, const Profile& profile, const Adaptation& adaptation) {
  Json out;
  if (auto raw = message.raw.empty() ? std::nullopt : parse_json(message.raw);
      raw && raw->is_object())
    out = std::move(*raw);
  else
    out = {{"role", "assistant"},
           {"content", message.text.empty() ? Json(nullptr) : Json(message.text)}};
  Json calls = replayed_calls(message, member(out, "tool_calls"));
  if (!calls.empty())
    out["tool_calls"] = std::move(calls);
  else
    out.erase("tool_calls");
  replay_reasoning(out, message, profile);
  replay_empty_content(out, adaptation.empty_content.value_or(profile.empty_content));
  return out;
}

Json messages_json(const Conversation& conversation,
                   const Profile& profile,
                   const Adaptation& adaptation) {
  constexpr std::array<std::string_view, 3> system_roles = {"system", "developer", "user"};
  Json out = Json::array();
  for (const Message& message : settled(conversation)) {
    if (message.speaker == Speaker::assistant)
      out.push_back(assistant_json(message, profile, adaptation));
    else if (message.speaker == Speaker::tool)
      out.push_back(
          {{"role", "tool"}, {"tool_call_id", message.call_id}, {"content", message.text}});
    else
      out.push_back({{"role",
                      message.speaker == Speaker::system
                          ? system_roles.at(static_cast<std::size_t>(profile.system_role))
                          : name(message.speaker)},
                     {"content", message.text}});
  }
  return out;
}

class Chat final : public Protocol {
 public:
  [[nodiscard]] std::string_view path() const override { return "/chat/completions"; }

  [[nodiscard]] Json request(const Target& target,
                             const Conversation& conversation,
                             const std::vector<ToolDefinition>& tools,
                             const Settings& settings,
                             const Adaptation& adaptation) const override;

  [[nodiscard]] std::unique_ptr<Assembler> assembler(const Asked& asked) const override {
    return make_chat_stream(asked);
  }

  [[nodiscard]] std::variant<Completion, WireError> interpret(Json document,
                                                              const Asked& asked) const override;

  [[nodiscard]] Asked asked(const Json& request, const Profile& profile) const override;
};

Json Chat::request(const Target& target,
                   const Conversation& conversation,
                   const std::vector<ToolDefinition>& tools,
                   const Settings& settings,
                   const Adaptation& adaptation) const {
  const Profile& profile = target.profile;
  Json body = {{"model", target.model},
               {"messages", messages_json(conversation, profile, adaptation)}};
  for (const ToolDefinition& tool : tools)
    body["tools"].push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool.name},
           {"description", tool.description},
           {"parameters", parse_json(tool.parameters_json).value_or(Json::object())}}}});
  add_tool_choice(body, profile, settings);
  if (settings.max_output_tokens)
    body[adaptation.token_field.value_or(profile.max_tokens_field) == TokenField::max_tokens
             ? "max_tokens"
             : "max_completion_tokens"] = *settings.max_output_tokens;
  if (settings.temperature)
    body["temperature"] = *settings.temperature;
  if (settings.top_p)
    body["top_p"] = *settings.top_p;
  if (settings.seed)
    body["seed"] = *settings.seed;
  if (!settings.reasoning_effort.empty() && profile.effort_field == EffortField::reasoning_effort)
    body["reasoning_effort"] = settings.reasoning_effort;
  if (!settings.reasoning_effort.empty() && profile.effort_field == EffortField::reasoning_object)
    body["reasoning"] = {{"effort", settings.reasoning_effort}};
  if (target.stream) {
    body["stream"] = true;
    if (profile.include_usage)
      body["stream_options"] = {{"include_usage", true}};
  }
  finish_body(body, target, settings, adaptation);
  return body;
}

Asked Chat::asked(const Json& request, const Profile& profile) const {
  Asked out = asked_in(request, profile);
  if (const Json* tools = member(request, "tools"); tools != nullptr && tools->is_array())
    for (const Json& tool : *tools)
      if (const Json* function = member(tool, "function"))
        add_offered(out.offer, *function);
  if (const Json* messages = member(request, "messages");
      messages != nullptr && messages->is_array())
    for (const Json& message : *messages) {
      out.turn += text_at(message, "role") == "assistant" ? 1U : 0U;
      if (const Json* calls = member(message, "tool_calls"); calls != nullptr && calls->is_array())
        out.calls += calls->size();
    }
  return out;
}

// The choice to read: the first, unless the document has none.
const Json* first_choice(const Json& document) {
  const Json* choices = member(document, "choices");
  return choices != nullptr && choices->is_array() && !choices->empty() ? &choices->front()
                                                                        : nullptr;
}

// Calls, text and reasoning of the message.
void read_message(const Json& message, const Profile& profile, Completion& out) {
  out.message.speaker = Speaker::assistant;
  out.message.text = content_text(member(message, "content"));
  out.message.reasoning = reasoning_text(message, profile);
  if (out.message.reasoning.empty()) {
    ThinkSplit split = split_think(out.message.text, profile.think_prefilled);
    out.message.reasoning = std::move(split.reasoning);
    out.message.text = std::move(split.text);
    if (split.stray)
      out.flags.emplace_back("think_tag_in_text");
  }
  if (std::string refusal = text_at(message, "refusal");
      !refusal.empty() && out.message.text.empty()) {
    out.message.text = std::move(refusal);
    out.flags.emplace_back("refusal");
  }
  if (const Json* calls = member(message, "tool_calls"); calls != nullptr && calls->is_array())
    for (const Json& call : *calls)
      out.message.calls.push_back(call_of(call));
  out.message.raw = dump(replayable_message(message));
}

// An answer without choices: an error, or what one kind of server makes of a refusal.
std::variant<Completion, WireError> without_choices(const Json& document, const Asked& asked) {
  Completion out;
  out.usage = usage_of(member(document, "usage"), out.flags);
  if (asked.profile.no_choices != NoChoices::refusal || out.usage.input <= 0)
    return WireError{"the answer has no choices: " + util::head_and_tail(dump(document), 200),
                     "no_choices",
                     "",
                     "",
                     0};
  out.id = text_at(document, "id");
  out.model = text_at(document, "model");
  out.message.speaker = Speaker::assistant;
  out.finish = Finish::content_filter;
  out.finish_raw = "no choices";
  out.flags.emplace_back("refusal");
  return out;
}

std::variant<Completion, WireError> Chat::interpret(Json document, const Asked& asked) const {
  restore(document);
  if (auto error = error_in(document))
    return *error;
  const Json* choice = first_choice(document);
  if (choice == nullptr)
    return without_choices(document, asked);
  if (auto error = error_in(*choice))
    return *error;
  const Json* message = member(*choice, "message");
  if (message == nullptr || !message->is_object())
    return WireError{"the answer's choice has no message", "no_message", "", "", 0};
  Completion out;
  out.id = text_at(document, "id");
  out.model = text_at(document, "model");
  if (auto error = wrong_model(out.model, asked))
    return *error;
  out.finish_raw = text_at(*choice, "finish_reason");
  out.finish = finish_of(out.finish_raw);
  if (failed_by_server(out.finish_raw))
    return WireError{"the server ended the answer: " + out.finish_raw, "server_error", "", "", 503};
  out.usage = usage_of(member(document, "usage"), out.flags);
  read_message(*message, asked.profile, out);
  settle_calls(out, asked);
  return out;
}

}  // namespace

std::unique_ptr<Protocol> make_chat() {
  return std::make_unique<Chat>();
}

}  // namespace sweep::endpoint
