#include "endpoint/protocol.h"

#include "endpoint/arguments.h"
#include "endpoint/price.h"
#include "endpoint/tool_text.h"

#include <algorithm>
#include <array>
#include <set>

namespace sweep::endpoint {

void note_piece(Progress& progress, bool reasoning, std::string_view piece) {
  (reasoning ? progress.reasoning : progress.text) += piece.size();
  std::string& end = reasoning ? progress.reasoning_end : progress.text_end;
  end += piece.substr(piece.size() - std::min(piece.size(), Progress::kShown));
  if (end.size() > 2 * Progress::kShown)
    end.erase(0, end.size() - Progress::kShown);
}

namespace {

void add_flag(std::vector<std::string>& flags, const char* flag) {
  if (std::find(flags.begin(), flags.end(), flag) == flags.end())
    flags.emplace_back(flag);
}

// Where reads and writes of a cache are counted beside the input, they are made parts of it.
void add_cache_beside(const Json& usage, Usage& out) {
  const std::int64_t read = integer_at(usage, "cache_read_input_tokens");
  const std::int64_t written = integer_at(usage, "cache_creation_input_tokens");
  if (out.cached < 0 && read >= 0) {
    out.cached = read;
    out.input += read;
  }
  if (out.cache_write < 0 && written >= 0) {
    out.cache_write = written;
    out.input += written;
  }
}

// The total decides whether reasoning is in the output or beside it.
void add_reasoning_beside(const Json& usage, Usage& out, std::vector<std::string>& flags) {
  const std::int64_t total = integer_at(usage, "total_tokens");
  if (total < 0 || out.input < 0 || out.output < 0 || total == out.input + out.output)
    return;
  if (out.reasoning > 0 && total == out.input + out.output + out.reasoning)
    out.output += out.reasoning;
  else
    add_flag(flags, "usage_inconsistent");
}

void give_id(ToolCall& call,
             const Asked& asked,
             std::size_t number,
             std::vector<std::string>& flags) {
  if (!call.id.empty())
    add_flag(flags, "duplicate_call_id");
  call.id = asked.profile.tool_ids == ToolIds::kimi
                ? "functions." + call.name + ":" + std::to_string(asked.calls + number)
                : "call_" + std::to_string(asked.turn) + "_" + std::to_string(number);
  call.synthetic_id = true;
}

// What the answer is, whatever its finish_reason says, and what is odd about it.
void flag_answer(Completion& completion) {
  const Message& message = completion.message;
  const bool called = !message.calls.empty();
  if (called && completion.finish != Finish::length)
    completion.finish = Finish::tool_calls;
  if (!called && completion.finish == Finish::tool_calls)
    completion.finish = Finish::stop;
  if (!called && has_tool_markup(message.reasoning))
    completion.flags.emplace_back("tool_markup_in_reasoning");
  if (called && message.calls.front().from_text)
    completion.flags.emplace_back("tool_calls_in_text");
  if (!called && message.text.empty())
    completion.flags.emplace_back(message.reasoning.empty() ? "empty_answer" : "reasoning_only");
}

}  // namespace

std::unique_ptr<Protocol> make_protocol(Api api) {
  return api == Api::chat ? make_chat() : make_responses();
}

Usage usage_of(const Json* usage, std::vector<std::string>& flags) {
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
    out.cached = integer_at(*usage, "prompt_cache_hit_tokens", integer_at(*usage, "cached_tokens"));
  add_cache_beside(*usage, out);
  add_reasoning_beside(*usage, out, flags);
  out.provider_nano_usd = provider_nano_usd(*usage);
  if (out.input >= 0) {
    out.cached = std::min(out.cached, out.input);
    out.cache_write = std::min(out.cache_write, out.input - std::max<std::int64_t>(out.cached, 0));
  }
  if (out.input == 0 && out.output == 0)
    flags.emplace_back("usage_zero");
  // Beyond any model's context: a wrong count must not empty a budget.
  constexpr std::int64_t kMostTokens = 50'000'000;
  if (std::max(out.input, out.output) > kMostTokens) {
    flags.emplace_back("usage_impossible");
    return {};
  }
  return out;
}

void settle_calls(Completion& completion, const Asked& asked) {
  Message& message = completion.message;
  bool markup_left = false;
  if (message.calls.empty()) {
    TextCalls found = calls_in_text(message.text, asked.offer, asked.profile.tool_markup);
    message.calls = std::move(found.calls);
    markup_left = found.left;
  }
  const bool cut = completion.finish == Finish::length ||
                   (asked.max_output_tokens && completion.usage.output >= *asked.max_output_tokens);
  const std::vector<std::string>& tools = asked.offer.tools;
  std::size_t number = 0;
  std::set<std::string> ids;
  for (ToolCall& call : message.calls) {
    if (!call.from_text)
      check_arguments(call, cut, asked.profile.json_repair);
    if (call.id.empty() || !ids.insert(call.id).second)
      give_id(call, asked, number, completion.flags);
    ids.insert(call.id);
    ++number;
    if (call.repaired)
      add_flag(completion.flags, "arguments_repaired");
    if (!call.problem.empty())
      add_flag(completion.flags, cut ? "arguments_cut" : "arguments_invalid");
    if (std::find(tools.begin(), tools.end(), call.name) == tools.end())
      add_flag(completion.flags, "unknown_tool");
  }
  if (markup_left)
    completion.flags.emplace_back("tool_markup_in_text");
  flag_answer(completion);
}

Asked asked_in(const Json& request, const Profile& profile) {
  Asked out;
  out.profile = profile;
  out.model = text_at(request, "model");
  for (const char* key : {"max_completion_tokens", "max_tokens", "max_output_tokens"})
    if (const std::int64_t limit = integer_at(request, key); limit > 0)
      out.max_output_tokens = limit;
  return out;
}

void add_offered(Offer& offer, const Json& function) {
  const std::string name = text_at(function, "name");
  offer.tools.push_back(name);
  const Json* parameters = member(function, "parameters");
  const Json* properties = parameters == nullptr ? nullptr : member(*parameters, "properties");
  if (properties == nullptr || !properties->is_object())
    return;
  for (const auto& [key, value] : properties->items())
    if (std::string type = text_at(value, "type"); !type.empty())
      offer.types[{name, key}] = std::move(type);
}

void add_tool_choice(Json& body, const Profile& profile, const Settings& settings) {
  if (!body.contains("tools"))
    return;
  if (profile.tool_choice != ToolChoice::omit)
    body["tool_choice"] =
        settings.tool_required && profile.tool_choice == ToolChoice::all ? "required" : "auto";
  if (profile.parallel_tool_calls != "unset")
    body["parallel_tool_calls"] = profile.parallel_tool_calls == "true";
}

void finish_body(Json& body,
                 const Target& target,
                 const Settings& settings,
                 const Adaptation& adaptation) {
  add_extra(body, settings.extra_json);
  add_extra(body, target.profile.body);
  for (const std::string& name : adaptation.dropped)
    body.erase(name);
  if (target.profile.strict_params)
    return;
  constexpr std::array<std::string_view, 5> needed = {
      "model", "messages", "input", "tools", "stream"};
  for (const std::string& name : target.profile.omit)
    if (std::find(needed.begin(), needed.end(), name) == needed.end())
      body.erase(name);
}

std::optional<WireError> wrong_model(const std::string& model, const Asked& asked) {
  const ModelMatch match = asked.profile.require_model_match;
  if (match == ModelMatch::off || model == asked.model ||
      (match == ModelMatch::prefix && model.starts_with(asked.model)))
    return std::nullopt;
  return WireError{"asked for '" + asked.model + "', answered by '" + model +
                       "', and require_model_match is set",
                   "model_mismatch",
                   "invalid_request_error",
                   "",
                   0};
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

}  // namespace sweep::endpoint
