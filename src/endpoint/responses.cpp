#include "endpoint/protocol.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace sweep::endpoint {
namespace {

constexpr std::array<std::string_view, 3> kTerminal = {
    "response.completed", "response.incomplete", "response.failed"};

// Output items as input of the next request: without ids, which a stateless server cannot look up,
// and, of the kinds known here, without `status` (Azure rejects it).
Json replayable_items(Json items) {
  for (Json& item : items) {
    if (!item.is_object())
      continue;
    const std::string type = text_at(item, "type");
    item.erase("id");
    if (type == "message" || type == "function_call" || type == "reasoning" || type.empty())
      item.erase("status");
    if (type == "reasoning" && member(item, "encrypted_content") != nullptr)
      item["content"] = Json::array();
  }
  return items;
}

void add_assistant(Json& input, const Message& message, const Profile& profile) {
  auto raw = message.raw.empty() ? std::nullopt : parse_json(message.raw);
  if (raw && raw->is_array()) {
    std::size_t number = 0;
    for (Json& item : *raw) {
      if (profile.reasoning_replay == Replay::none && text_at(item, "type") == "reasoning")
        continue;
      if (text_at(item, "type") == "function_call" && number < message.calls.size()) {
        const ToolCall& call = message.calls[number++];
        item["call_id"] = call.id;
        item["arguments"] = call.problem.empty() ? call.arguments : "{}";
      }
      input.push_back(std::move(item));
    }
    return;
  }
  if (!message.text.empty())
    input.push_back({{"role", "assistant"}, {"content", message.text}});
  for (const ToolCall& call : message.calls)
    if (!call.from_text)
      input.push_back({{"type", "function_call"},
                       {"call_id", call.id},
                       {"name", sendable_name(call.name)},
                       {"arguments", call.problem.empty() ? call.arguments : "{}"}});
}

// Text of a list of content parts, each with `text` or `refusal`.
std::string parts_text(const Json* parts) {
  std::string text;
  if (parts != nullptr && parts->is_string())
    return parts->get<std::string>();
  if (parts != nullptr && parts->is_array())
    for (const Json& part : *parts)
      text += text_at(part, "text") + text_at(part, "refusal");
  return text;
}

class ResponsesStream final : public Assembler {
 public:
  bool add(const SseEvent& event) override;

  [[nodiscard]] bool complete() const override { return final_.has_value(); }

  [[nodiscard]] const std::optional<WireError>& error() const override { return error_; }

  [[nodiscard]] Progress progress() const override { return progress_; }

  [[nodiscard]] Json take() override;

 private:
  bool count(std::string_view type, const Json& event);

  std::map<std::int64_t, Json> items_;  // finished items by output_index
  std::optional<Json> final_;
  std::optional<WireError> error_;
  Progress progress_;
};

bool ResponsesStream::count(std::string_view type, const Json& event) {
  const std::string delta = text_at(event, "delta");
  if (!type.ends_with(".delta") || delta.empty())
    return false;
  const bool reasoning = type.find("reasoning") != std::string_view::npos;
  if (!reasoning && type.find("arguments") != std::string_view::npos)
    progress_.arguments += delta.size();
  else
    note_piece(progress_, reasoning, delta);
  return true;
}

bool ResponsesStream::add(const SseEvent& event) {
  if (event.data == "[DONE]")
    return false;
  auto json = parse_json(event.data);
  if (!json || !json->is_object()) {
    error_ = WireError{"an event of the stream is not JSON", "bad_event", "", "", 0};
    return false;
  }
  std::string type = text_at(*json, "type");
  if (type.empty())
    type = event.event;
  if (type == "error") {
    error_ = error_in(*json).value_or(
        WireError{text_at(*json, "message"), text_at(*json, "code"), "", "", 0});
    return false;
  }
  if (type.empty()) {
    error_ = error_in(*json);
    return false;
  }
  if (std::find(kTerminal.begin(), kTerminal.end(), type) != kTerminal.end()) {
    if (const Json* response = member(*json, "response"))
      final_ = *response;
    return true;
  }
  if (type == "response.output_item.done")
    if (const Json* item = member(*json, "item")) {
      const std::int64_t next = items_.empty() ? 0 : items_.rbegin()->first + 1;
      items_[integer_at(*json, "output_index", next)] = *item;
      return true;
    }
  return count(type, *json);
}

Json ResponsesStream::take() {
  Json document = final_ ? std::move(*final_) : Json::object();
  const Json* output = member(document, "output");
  if (output == nullptr || !output->is_array() || output->empty()) {
    Json items = Json::array();
    for (auto& [index, item] : items_)
      items.push_back(std::move(item));
    document["output"] = std::move(items);
  }
  return document;
}

class Responses final : public Protocol {
 public:
  [[nodiscard]] std::string_view path() const override { return "/responses"; }

  [[nodiscard]] Json request(const Target& target,
                             const Conversation& conversation,
                             const std::vector<ToolDefinition>& tools,
                             const Settings& settings,
                             const Adaptation& adaptation) const override;

  [[nodiscard]] std::unique_ptr<Assembler> assembler(const Asked& /*asked*/) const override {
    return std::make_unique<ResponsesStream>();
  }

  [[nodiscard]] std::variant<Completion, WireError> interpret(Json document,
                                                              const Asked& asked) const override;

  [[nodiscard]] Asked asked(const Json& request, const Profile& profile) const override;
};

Json input_items(const Conversation& conversation, const Profile& profile) {
  Json input = Json::array();
  for (const Message& message : conversation) {
    if (message.speaker == Speaker::user)
      input.push_back({{"role", "user"}, {"content", message.text}});
    else if (message.speaker == Speaker::assistant)
      add_assistant(input, message, profile);
    else if (message.speaker == Speaker::tool)
      input.push_back({{"type", "function_call_output"},
                       {"call_id", message.call_id},
                       {"output", message.text}});
  }
  return input;
}

void add_reasoning(Json& body, const Target& target, const Settings& settings) {
  const Profile& profile = target.profile;
  Json reasoning = Json::object();
  if (profile.reasoning_summary != "off")
    reasoning["summary"] = profile.reasoning_summary;
  if (!settings.reasoning_effort.empty() && profile.effort_field != EffortField::omit)
    reasoning["effort"] = settings.reasoning_effort;
  if (!reasoning.empty())
    body["reasoning"] = std::move(reasoning);
  if (profile.reasoning_replay != Replay::none)
    body["include"] = {"reasoning.encrypted_content"};
}

Json Responses::request(const Target& target,
                        const Conversation& conversation,
                        const std::vector<ToolDefinition>& tools,
                        const Settings& settings,
                        const Adaptation& adaptation) const {
  Json body = {{"model", target.model}};
  Conversation whole = settled(conversation);
  if (!whole.empty() && whole.front().speaker == Speaker::system) {
    body["instructions"] = whole.front().text;
    whole.erase(whole.begin());
  }
  body["input"] = input_items(whole, target.profile);
  for (const ToolDefinition& tool : tools)
    body["tools"].push_back(
        {{"type", "function"},
         {"name", tool.name},
         {"description", tool.description},
         {"parameters", parse_json(tool.parameters_json).value_or(Json::object())},
         {"strict", false}});
  add_tool_choice(body, target.profile, settings);
  if (settings.max_output_tokens)
    body["max_output_tokens"] = *settings.max_output_tokens;
  if (settings.temperature)
    body["temperature"] = *settings.temperature;
  if (settings.top_p)
    body["top_p"] = *settings.top_p;
  if (target.send_reasoning)
    add_reasoning(body, target, settings);
  body["store"] = false;
  if (target.stream)
    body["stream"] = true;
  finish_body(body, target, settings, adaptation);
  return body;
}

Asked Responses::asked(const Json& request, const Profile& profile) const {
  Asked out = asked_in(request, profile);
  if (const Json* tools = member(request, "tools"); tools != nullptr && tools->is_array())
    for (const Json& tool : *tools)
      add_offered(out.offer, tool);
  if (const Json* input = member(request, "input"); input != nullptr && input->is_array())
    for (const Json& item : *input) {
      const bool call = text_at(item, "type") == "function_call";
      out.calls += call ? 1U : 0U;
      out.turn += call || text_at(item, "role") == "assistant" ? 1U : 0U;
    }
  return out;
}

void read_item(const Json& item, Completion& out) {
  const std::string type = text_at(item, "type");
  if (type == "message") {
    out.message.text += parts_text(member(item, "content"));
  } else if (type == "reasoning") {
    std::string text = parts_text(member(item, "content"));
    if (text.empty())
      text = parts_text(member(item, "summary"));
    out.message.reasoning += (out.message.reasoning.empty() || text.empty() ? "" : "\n\n") + text;
  } else if (type == "function_call") {
    ToolCall call;
    call.id = text_at(item, "call_id");
    call.name = text_at(item, "name");
    if (const Json* arguments = member(item, "arguments"))
      call.arguments = arguments->is_string() ? arguments->get<std::string>() : dump(*arguments);
    out.message.calls.push_back(std::move(call));
  }
}

std::variant<Completion, WireError> Responses::interpret(Json document, const Asked& asked) const {
  restore(document);
  if (auto error = error_in(document))
    return *error;
  const std::string status = text_at(document, "status");
  if (status == "failed" || status == "cancelled")
    return WireError{"the response is " + status, "server_error", "", "", 0};
  if (status == "queued" || status == "in_progress")
    return WireError{"the response is " + status + ", not finished", "no_output", "", "", 0};
  const Json* output = member(document, "output");
  if (output == nullptr || !output->is_array())
    return WireError{"the answer has no output: " + util::head_and_tail(dump(document), 200),
                     "no_output",
                     "",
                     "",
                     0};
  Completion out;
  out.id = text_at(document, "id");
  out.model = text_at(document, "model");
  if (auto error = wrong_model(out.model, asked))
    return *error;
  out.finish_raw = status;
  out.finish = Finish::stop;
  if (const Json* details = member(document, "incomplete_details")) {
    const std::string reason = text_at(*details, "reason");
    out.finish_raw += ":" + reason;
    out.finish = reason == "content_filter" ? Finish::content_filter : Finish::length;
  }
  out.usage = usage_of(member(document, "usage"), out.flags);
  out.message.speaker = Speaker::assistant;
  for (const Json& item : *output)
    read_item(item, out);
  out.message.raw = dump(replayable_items(*output));
  settle_calls(out, asked);
  return out;
}

}  // namespace

std::unique_ptr<Protocol> make_responses() {
  return std::make_unique<Responses>();
}

}  // namespace sweep::endpoint
