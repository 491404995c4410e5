#include "endpoint/script.h"

#include <algorithm>
#include <cctype>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kPiece = 48;  // bytes of text in one event of a stream

// Text of a string or of the text parts of a list.
std::string text_of(const Json* content) {
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

// `id` as a word of its own: "level1/3" is not in "level1/30".
bool mentions(std::string_view text, std::string_view id) {
  const auto part_of_id = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/';
  };
  for (std::size_t at = text.find(id); at != std::string_view::npos; at = text.find(id, at + 1)) {
    const std::size_t end = at + id.size();
    if ((at == 0 || !part_of_id(text[at - 1])) && (end == text.size() || !part_of_id(text[end])))
      return true;
  }
  return false;
}

// Pieces of at most kPiece bytes that do not cut a character.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(at + kPiece, text.size());
    while (end < text.size() && end > at + 1 &&
           (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string call_id(const AnswerContext& context, std::size_t number) {
  return "call_" + std::to_string(context.turn + 1) + "_" + std::to_string(number + 1);
}

std::string event(const Json& json) {
  return "data: " + dump(json) + "\n\n";
}

std::string named_event(const Json& json) {
  return "event: " + text_at(json, "type") + "\n" + event(json);
}

// Four bytes a token: what this server claims, like any server.
Json usage(const ScriptTurn& turn,
           const AnswerContext& context,
           const char* in,
           const char* out_name) {
  std::size_t output = turn.reasoning.size() + turn.text.size();
  for (const ScriptCall& call : turn.calls)
    output += call.arguments.size() + call.tool.size();
  const std::size_t input_tokens = context.request_bytes / 4;
  const std::size_t output_tokens = output / 4 + 1;
  const std::string details = out_name;
  return {{in, input_tokens},
          {out_name, output_tokens},
          {"total_tokens", input_tokens + output_tokens},
          {details + "_details", {{"reasoning_tokens", turn.reasoning.size() / 4}}}};
}

std::string finish_of(const ScriptTurn& turn) {
  return !turn.finish.empty() ? turn.finish : turn.calls.empty() ? "stop" : "tool_calls";
}

Json chunk(const AnswerContext& context, Json delta, Json finish = nullptr) {
  return {{"id", "chatcmpl-" + std::to_string(context.turn + 1)},
          {"object", "chat.completion.chunk"},
          {"model", context.model},
          {"choices",
           {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}}}};
}

Json output_items(const ScriptTurn& turn, const AnswerContext& context) {
  const std::string suffix = std::to_string(context.turn + 1);
  Json items = Json::array();
  if (!turn.reasoning.empty())
    items.push_back({{"type", "reasoning"},
                     {"id", "rs_" + suffix},
                     {"summary", {{{"type", "summary_text"}, {"text", turn.reasoning}}}},
                     {"encrypted_content", "script"}});
  if (!turn.text.empty())
    items.push_back(
        {{"type", "message"},
         {"id", "msg_" + suffix},
         {"role", "assistant"},
         {"status", "completed"},
         {"content",
          {{{"type", "output_text"}, {"text", turn.text}, {"annotations", Json::array()}}}}});
  for (std::size_t i = 0; i < turn.calls.size(); ++i)
    items.push_back({{"type", "function_call"},
                     {"id", "fc_" + suffix + "_" + std::to_string(i + 1)},
                     {"status", "completed"},
                     {"call_id", call_id(context, i)},
                     {"name", turn.calls[i].tool},
                     {"arguments", turn.calls[i].arguments}});
  return items;
}

// Delta events of one finished output item.
void item_events(const Json& item, std::size_t index, std::vector<std::string>& out) {
  const std::string type = text_at(item, "type");
  const auto deltas = [&](const std::string& kind, const std::string& text) {
    for (const std::string& piece : pieces(text))
      out.push_back(named_event({{"type", kind},
                                 {"item_id", text_at(item, "id")},
                                 {"output_index", index},
                                 {"delta", piece}}));
  };
  out.push_back(named_event({{"type", "response.output_item.added"},
                             {"output_index", index},
                             {"item", {{"type", type}, {"id", text_at(item, "id")}}}}));
  if (type == "reasoning")
    deltas("response.reasoning_summary_text.delta", text_of(member(item, "summary")));
  else if (type == "message")
    deltas("response.output_text.delta", text_of(member(item, "content")));
  else
    deltas("response.function_call_arguments.delta", text_at(item, "arguments"));
  out.push_back(named_event(
      {{"type", "response.output_item.done"}, {"output_index", index}, {"item", item}}));
}

const ScriptConversation* find_conversation(const Script& script, const std::string& text) {
  const ScriptConversation* any = nullptr;
  for (const ScriptConversation& conversation : script.conversations) {
    if (conversation.problem == "*")
      any = &conversation;
    else if (mentions(text, conversation.problem))
      return &conversation;
  }
  return any;
}

}  // namespace

ScriptRequest read_chat_request(const Json& body) {
  ScriptRequest out;
  out.model = text_at(body, "model");
  const Json* stream = member(body, "stream");
  out.stream = stream != nullptr && stream->is_boolean() && stream->get<bool>();
  if (const Json* messages = member(body, "messages"); messages != nullptr && messages->is_array())
    for (const Json& message : *messages) {
      const std::string role = text_at(message, "role");
      if (role == "user")
        out.text += text_of(member(message, "content")) + "\n";
      out.turn += role == "assistant" ? 1U : 0U;
    }
  return out;
}

ScriptRequest read_responses_request(const Json& body) {
  ScriptRequest out;
  out.model = text_at(body, "model");
  const Json* stream = member(body, "stream");
  out.stream = stream != nullptr && stream->is_boolean() && stream->get<bool>();
  const Json* input = member(body, "input");
  if (input != nullptr && input->is_string())
    out.text = input->get<std::string>();
  bool in_turn = false;  // a run of output items is one turn
  if (input != nullptr && input->is_array())
    for (const Json& item : *input) {
      const std::string role = text_at(item, "role");
      const bool theirs =
          role == "user" || role == "system" || text_at(item, "type") == "function_call_output";
      if (role == "user")
        out.text += text_of(member(item, "content")) + "\n";
      out.turn += !theirs && !in_turn ? 1U : 0U;
      in_turn = !theirs;
    }
  return out;
}

const ScriptTurn* find_turn(const std::vector<Script>& scripts,
                            const ScriptRequest& request,
                            ScriptMiss& miss) {
  const auto script = std::find_if(scripts.begin(), scripts.end(), [&](const Script& one) {
    return one.model == request.model;
  });
  if (script == scripts.end()) {
    miss.why = "no script for model '" + request.model + "'; there are:";
    for (const Script& one : scripts)
      miss.why += " " + one.model;
    return nullptr;
  }
  const ScriptConversation* conversation = find_conversation(*script, request.text);
  if (conversation == nullptr) {
    miss.why = script->file + " has no conversation for this problem; it has:";
    for (const ScriptConversation& one : script->conversations)
      miss.why += " " + one.problem;
    return nullptr;
  }
  if (request.turn >= conversation->turns.size()) {
    miss.why = script->file + " ends after turn " + std::to_string(conversation->turns.size()) +
               " of " + conversation->problem + ", and turn " + std::to_string(request.turn + 1) +
               " was asked for";
    return nullptr;
  }
  return &conversation->turns[request.turn];
}

Json chat_document(const ScriptTurn& turn, const AnswerContext& context) {
  Json message = {{"role", "assistant"},
                  {"content", turn.text.empty() ? Json(nullptr) : Json(turn.text)}};
  if (!turn.reasoning.empty())
    message["reasoning_content"] = turn.reasoning;
  for (std::size_t i = 0; i < turn.calls.size(); ++i)
    message["tool_calls"].push_back(
        {{"id", call_id(context, i)},
         {"type", "function"},
         {"function", {{"name", turn.calls[i].tool}, {"arguments", turn.calls[i].arguments}}}});
  return {{"id", "chatcmpl-" + std::to_string(context.turn + 1)},
          {"object", "chat.completion"},
          {"model", context.model},
          {"choices",
           {{{"index", 0}, {"message", std::move(message)}, {"finish_reason", finish_of(turn)}}}},
          {"usage", usage(turn, context, "prompt_tokens", "completion_tokens")}};
}

std::vector<std::string> chat_events(const ScriptTurn& turn, const AnswerContext& context) {
  std::vector<std::string> out;
  out.push_back(event(chunk(context, {{"role", "assistant"}, {"content", ""}})));
  for (const std::string& piece : pieces(turn.reasoning))
    out.push_back(event(chunk(context, {{"reasoning_content", piece}})));
  for (const std::string& piece : pieces(turn.text))
    out.push_back(event(chunk(context, {{"content", piece}})));
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    const ScriptCall& call = turn.calls[i];
    out.push_back(event(chunk(context,
                              {{"tool_calls",
                                {{{"index", i},
                                  {"id", call_id(context, i)},
                                  {"type", "function"},
                                  {"function", {{"name", call.tool}, {"arguments", ""}}}}}}})));
    for (const std::string& piece : pieces(call.arguments))
      out.push_back(event(chunk(
          context, {{"tool_calls", {{{"index", i}, {"function", {{"arguments", piece}}}}}}})));
  }
  out.push_back(event(chunk(context, Json::object(), finish_of(turn))));
  Json last = chunk(context, Json::object());
  last["choices"] = Json::array();
  last["usage"] = usage(turn, context, "prompt_tokens", "completion_tokens");
  out.push_back(event(last));
  out.emplace_back("data: [DONE]\n\n");
  return out;
}

Json responses_document(const ScriptTurn& turn, const AnswerContext& context) {
  const bool cut = turn.finish == "length";
  return {{"id", "resp_" + std::to_string(context.turn + 1)},
          {"object", "response"},
          {"model", context.model},
          {"status", cut ? "incomplete" : "completed"},
          {"error", nullptr},
          {"incomplete_details", cut ? Json({{"reason", "max_output_tokens"}}) : Json(nullptr)},
          {"output", output_items(turn, context)},
          {"usage", usage(turn, context, "input_tokens", "output_tokens")}};
}

std::vector<std::string> responses_events(const ScriptTurn& turn, const AnswerContext& context) {
  const Json document = responses_document(turn, context);
  std::vector<std::string> out;
  out.push_back(named_event({{"type", "response.created"},
                             {"response", {{"id", document["id"]}, {"status", "in_progress"}}}}));
  for (std::size_t i = 0; i < document["output"].size(); ++i)
    item_events(document["output"][i], i, out);
  out.push_back(
      named_event({{"type", "response." + text_at(document, "status")}, {"response", document}}));
  return out;
}

}  // namespace sweep::endpoint
