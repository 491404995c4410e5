#include "endpoint/conversation.h"

#include "endpoint/json.h"
#include "util/error.h"

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

constexpr std::array<std::string_view, 4> kSpeakers = {"system", "user", "assistant", "tool"};

bool flag_at(const Json& json, std::string_view key) {
  const Json* value = member(json, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

Json stored_call(const ToolCall& call) {
  Json json = {{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}};
  if (!call.problem.empty())
    json["problem"] = call.problem;
  if (call.from_text)
    json["from_text"] = true;
  if (call.synthetic_id)
    json["synthetic_id"] = true;
  if (call.repaired)
    json["repaired"] = true;
  if (!call.markup.empty())
    json["markup"] = call.markup;
  return json;
}

// Work of settled().
class Settler {
 public:
  explicit Settler(const Conversation& conversation)
      : in_(conversation), used_(conversation.size(), false) {}

  Conversation settle() {
    std::string system;
    for (const Message& message : in_)
      if (message.speaker == Speaker::system && !message.text.empty())
        system += (system.empty() ? "" : "\n\n") + message.text;
    if (!system.empty())
      out_.push_back({Speaker::system, system});
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (in_[i].speaker == Speaker::user)
        out_.push_back(in_[i]);
      else if (in_[i].speaker == Speaker::assistant)
        add_assistant(i);
      else if (in_[i].speaker == Speaker::tool && !used_[i])
        add_as_user(in_[i]);
    }
    return std::move(out_);
  }

 private:
  void add_assistant(std::size_t index) {
    const Message& message = in_[index];
    out_.push_back(message);
    for (const ToolCall& call : message.calls)
      if (!call.from_text)
        add_result(call, index);
  }

  // The first result of the call before the next answer; further ones of the same call are dropped.
  void add_result(const ToolCall& call, std::size_t index) {
    bool found = false;
    for (std::size_t i = index + 1; i < in_.size() && in_[i].speaker != Speaker::assistant; ++i) {
      if (in_[i].speaker != Speaker::tool || in_[i].call_id != call.id || used_[i])
        continue;
      used_[i] = true;
      if (!found)
        out_.push_back(in_[i]);
      found = true;
    }
    if (!found)
      out_.push_back({Speaker::tool,
                      R"({"error":"there is no result: the tool was interrupted"})",
                      "",
                      {},
                      call.id,
                      call.name,
                      ""});
  }

  void add_as_user(const Message& result) {
    const std::string text = "Result of " + result.tool_name + ":\n" + result.text;
    if (result_message_ != 0 && result_message_ == out_.size())
      out_.back().text += "\n\n" + text;
    else
      out_.push_back({Speaker::user, text});
    result_message_ = out_.size();
  }

  const Conversation& in_;
  std::vector<bool> used_;
  Conversation out_;
  std::size_t result_message_ = 0;  // size of out_ when its last message is made of results
};

}  // namespace

std::string_view name(Finish finish) {
  constexpr std::array<std::string_view, 5> names = {
      "stop", "tool_calls", "length", "content_filter", "other"};
  return names.at(static_cast<std::size_t>(finish));
}

std::string_view name(Speaker speaker) {
  return kSpeakers.at(static_cast<std::size_t>(speaker));
}

Conversation settled(const Conversation& conversation) {
  Settler settler(conversation);
  return settler.settle();
}

Json to_json(const Message& message) {
  Json json = {{"role", name(message.speaker)}, {"content", message.text}};
  if (!message.reasoning.empty())
    json["reasoning"] = message.reasoning;
  for (const ToolCall& call : message.calls)
    json["tool_calls"].push_back(stored_call(call));
  if (message.speaker == Speaker::tool) {
    json["tool_call_id"] = message.call_id;
    json["name"] = message.tool_name;
  }
  if (!message.raw.empty())
    json["raw"] = message.raw;
  return json;
}

Message message_from_json(const Json& json) {
  const auto* const found = std::find(kSpeakers.begin(), kSpeakers.end(), text_at(json, "role"));
  if (found == kSpeakers.end())
    throw util::InfraError(
        {"conversation", "a stored message has no known role", "the run is damaged"},
        "E_ENDPOINT_RECORD");
  Message message;
  message.speaker = static_cast<Speaker>(found - kSpeakers.begin());
  message.text = text_at(json, "content");
  message.reasoning = text_at(json, "reasoning");
  message.call_id = text_at(json, "tool_call_id");
  message.tool_name = text_at(json, "name");
  message.raw = text_at(json, "raw");
  if (const Json* calls = member(json, "tool_calls"); calls != nullptr && calls->is_array())
    for (const Json& call : *calls)
      message.calls.push_back({text_at(call, "id"),
                               text_at(call, "name"),
                               text_at(call, "arguments"),
                               text_at(call, "problem"),
                               flag_at(call, "from_text"),
                               flag_at(call, "synthetic_id"),
                               flag_at(call, "repaired"),
                               text_at(call, "markup")});
  return message;
}

Json to_json(const Usage& usage) {
  Json json = {{"input", usage.input},
               {"cached", usage.cached},
               {"output", usage.output},
               {"reasoning", usage.reasoning},
               {"estimated", usage.estimated}};
  if (usage.cache_write >= 0)
    json["cache_write"] = usage.cache_write;
  if (usage.provider_nano_usd)
    json["provider_nano_usd"] = *usage.provider_nano_usd;
  return json;
}

Usage usage_from_json(const Json& json) {
  Usage usage{integer_at(json, "input"),
              integer_at(json, "cached"),
              integer_at(json, "output"),
              integer_at(json, "reasoning"),
              flag_at(json, "estimated"),
              integer_at(json, "cache_write"),
              std::nullopt};
  if (const std::int64_t charged = integer_at(json, "provider_nano_usd"); charged >= 0)
    usage.provider_nano_usd = charged;
  return usage;
}

std::string sendable_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  std::string out(name.substr(0, kLongest));
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    c = plain || c == '_' || c == '-' ? c : '_';
  }
  return out.empty() ? "unknown" : out;
}

}  // namespace sweep::endpoint
