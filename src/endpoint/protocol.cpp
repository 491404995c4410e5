#include "endpoint/protocol.h"

#include "endpoint/price.h"
#include "endpoint/tool_text.h"

#include <algorithm>

namespace sweep::endpoint {

std::unique_ptr<Protocol> make_protocol(Api api) {
  return api == Api::chat ? make_chat() : make_responses();
}

Usage usage_of(const Json* usage) {
  Usage out;
  if (usage == nullptr || !usage->is_object())
    return out;
  out.input = integer_at(*usage, "prompt_tokens", integer_at(*usage, "input_tokens"));
  out.output = integer_at(*usage, "completion_tokens", integer_at(*usage, "output_tokens"));
  for (const char* key : {"prompt_tokens_details", "input_tokens_details"})
    if (const Json* details = member(*usage, key)) {
      out.cached = integer_at(*details, "cached_tokens", out.cached);
      out.cache_write = integer_at(*details, "cache_write_tokens", out.cache_write);
    }
  for (const char* key : {"completion_tokens_details", "output_tokens_details"})
    if (const Json* details = member(*usage, key))
      out.reasoning = integer_at(*details, "reasoning_tokens", out.reasoning);
  if (out.cached < 0)
    out.cached = integer_at(*usage, "prompt_cache_hit_tokens");
  // Where cache reads are counted beside the input, they are made a part of it.
  if (const std::int64_t beside = integer_at(*usage, "cache_read_input_tokens");
      out.cached < 0 && beside >= 0) {
    out.cached = beside;
    out.input += beside;
  }
  const std::int64_t total = integer_at(*usage, "total_tokens");
  if (out.reasoning > 0 && out.input >= 0 && out.output >= 0 &&
      total == out.input + out.output + out.reasoning)
    out.output += out.reasoning;
  if (out.input >= 0 && out.cached > out.input)
    out.cached = out.input;
  out.provider_nano_usd = provider_nano_usd(*usage);
  return out;
}

void settle_calls(Completion& completion, const std::vector<std::string>& tools) {
  Message& message = completion.message;
  if (message.calls.empty() && !tools.empty())
    message.calls = calls_in_text(message.text, tools);
  int number = 0;
  for (ToolCall& call : message.calls) {
    if (!call.from_text)
      check_arguments(call, completion.finish == Finish::length);
    if (call.id.empty()) {
      call.id = "call_" + std::to_string(number);
      call.synthetic_id = true;
    }
    ++number;
    if (call.repaired)
      completion.flags.emplace_back("arguments_repaired");
  }
  if (!message.calls.empty() && completion.finish != Finish::length)
    completion.finish = Finish::tool_calls;
  if (message.calls.empty() && completion.finish == Finish::tool_calls)
    completion.finish = Finish::stop;
  if (message.calls.empty() && has_tool_markup(message.text))
    completion.flags.emplace_back("tool_markup_in_text");
  if (!message.calls.empty() && message.calls.front().from_text)
    completion.flags.emplace_back("tool_calls_in_text");
  if (message.calls.empty() && message.text.empty())
    completion.flags.emplace_back(message.reasoning.empty() ? "empty_answer" : "reasoning_only");
}

void add_extra(Json& body, const std::string& extra_json) {
  if (extra_json.empty())
    return;
  const auto extra = parse_json(extra_json);
  if (!extra || !extra->is_object())
    return;
  for (const auto& [key, value] : extra->items())
    if (!body.contains(key))
      body[key] = value;
}

bool answers_text_call(const Conversation& conversation, std::size_t index) {
  const std::string& id = conversation.at(index).call_id;
  for (std::size_t i = index; i-- > 0;) {
    if (conversation[i].speaker != Speaker::assistant)
      continue;
    const auto& calls = conversation[i].calls;
    const auto found = std::find_if(
        calls.begin(), calls.end(), [&](const ToolCall& call) { return call.id == id; });
    return found != calls.end() && found->from_text;
  }
  return false;
}

}  // namespace sweep::endpoint
