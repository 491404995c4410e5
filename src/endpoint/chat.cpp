#include "endpoint/chat_stream.h"
#include "endpoint/protocol.h"
#include "endpoint/tool_text.h"

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

std::string reasoning_text(const Json& message) {
  for (const char* key : {"reasoning_content", "reasoning"})
    if (std::string text = text_at(message, key); !text.empty())
      return text;
  std::string text;
  if (const Json* details = member(message, "reasoning_details");
      details != nullptr && details->is_array())
    for (const Json& part : *details)
      text += text_at(part, "text") + text_at(part, "summary");
  return text;
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
Json replayable(Json message) {
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
           {{"name", call.name}, {"arguments", call.problem.empty() ? call.arguments : "{}"}}}};
}

Json assistant_json(const Message& message) {
  Json out;
  if (auto raw = message.raw.empty() ? std::nullopt : parse_json(message.raw);
      raw && raw->is_object())
    out = std::move(*raw);
  else
    out = {{"role", "assistant"},
           {"content", message.text.empty() ? Json(nullptr) : Json(message.text)}};
  // Broken arguments in the history make later requests fail: the calls go back as they were
  // understood.
  Json calls = Json::array();
  const Json* original = member(out, "tool_calls");
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
  if (!calls.empty())
    out["tool_calls"] = std::move(calls);
  else
    out.erase("tool_calls");
  // Neither text nor calls: some servers reject null there.
  if (!out.contains("tool_calls") && (!out.contains("content") || out["content"].is_null()))
    out["content"] = "";
  return out;
}

Json messages_json(const Conversation& conversation) {
  Json out = Json::array();
  for (std::size_t i = 0; i < conversation.size(); ++i) {
    const Message& message = conversation[i];
    if (message.speaker == Speaker::assistant)
      out.push_back(assistant_json(message));
    else if (message.speaker != Speaker::tool)
      out.push_back({{"role", name(message.speaker)}, {"content", message.text}});
    else if (answers_text_call(conversation, i))
      out.push_back(
          {{"role", "user"}, {"content", "Result of " + message.tool_name + ":\n" + message.text}});
    else
      out.push_back(
          {{"role", "tool"}, {"tool_call_id", message.call_id}, {"content", message.text}});
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

  [[nodiscard]] std::unique_ptr<Assembler> assembler() const override { return make_chat_stream(); }

  [[nodiscard]] std::variant<Completion, WireError> interpret(
      Json document, const std::vector<std::string>& tools) const override;

  [[nodiscard]] std::vector<std::string> tool_names(const Json& request) const override {
    std::vector<std::string> names;
    if (const Json* tools = member(request, "tools"); tools != nullptr && tools->is_array())
      for (const Json& tool : *tools)
        if (const Json* function = member(tool, "function"))
          names.push_back(text_at(*function, "name"));
    return names;
  }
};

Json Chat::request(const Target& target,
                   const Conversation& conversation,
                   const std::vector<ToolDefinition>& tools,
                   const Settings& settings,
                   const Adaptation& adaptation) const {
  Json body = {{"model", target.model}, {"messages", messages_json(conversation)}};
  for (const ToolDefinition& tool : tools)
    body["tools"].push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool.name},
           {"description", tool.description},
           {"parameters", parse_json(tool.parameters_json).value_or(Json::object())}}}});
  if (!tools.empty())
    body["tool_choice"] = settings.tool_required ? "required" : "auto";
  if (settings.max_output_tokens)
    body[adaptation.old_token_limit ? "max_tokens" : "max_completion_tokens"] =
        *settings.max_output_tokens;
  if (settings.temperature)
    body["temperature"] = *settings.temperature;
  if (settings.top_p)
    body["top_p"] = *settings.top_p;
  if (settings.seed)
    body["seed"] = *settings.seed;
  if (!settings.reasoning_effort.empty())
    body["reasoning_effort"] = settings.reasoning_effort;
  if (target.stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  add_extra(body, settings.extra_json);
  for (const std::string& name : adaptation.dropped)
    body.erase(name);
  return body;
}

// The choice to read: the first, unless the document has none.
const Json* first_choice(const Json& document) {
  const Json* choices = member(document, "choices");
  return choices != nullptr && choices->is_array() && !choices->empty() ? &choices->front()
                                                                        : nullptr;
}

std::variant<Completion, WireError> Chat::interpret(Json document,
                                                    const std::vector<std::string>& tools) const {
  restore(document);
  if (auto error = error_in(document))
    return *error;
  const Json* choice = first_choice(document);
  if (choice == nullptr)
    return WireError{"the answer has no choices", "no_choices", "", "", 0};
  if (auto error = error_in(*choice))
    return *error;
  const Json* message = member(*choice, "message");
  if (message == nullptr || !message->is_object())
    return WireError{"the answer's choice has no message", "no_message", "", "", 0};
  Completion out;
  out.id = text_at(document, "id");
  out.model = text_at(document, "model");
  out.finish_raw = text_at(*choice, "finish_reason");
  out.finish = finish_of(out.finish_raw);
  out.usage = usage_of(member(document, "usage"));
  out.message.speaker = Speaker::assistant;
  out.message.text = content_text(member(*message, "content"));
  out.message.reasoning = reasoning_text(*message);
  if (out.message.reasoning.empty()) {
    ThinkSplit split = split_think(out.message.text);
    out.message.reasoning = std::move(split.reasoning);
    out.message.text = std::move(split.text);
  }
  if (std::string refusal = text_at(*message, "refusal");
      !refusal.empty() && out.message.text.empty()) {
    out.message.text = std::move(refusal);
    out.flags.emplace_back("refusal");
  }
  if (const Json* calls = member(*message, "tool_calls"); calls != nullptr && calls->is_array())
    for (const Json& call : *calls)
      out.message.calls.push_back(call_of(call));
  out.message.raw = dump(replayable(*message));
  settle_calls(out, tools);
  return out;
}

}  // namespace

std::unique_ptr<Protocol> make_chat() {
  return std::make_unique<Chat>();
}

}  // namespace sweep::endpoint
