#include "agent/kept.h"

#include "endpoint/json.h"
#include "util/sha256.h"
#include "util/text.h"

#include <fmt/format.h>

namespace sweep::agent {
namespace {

using nlohmann::json;

constexpr std::size_t kMostKept = std::size_t{64} << 10U;
constexpr std::size_t kLong = std::size_t{16} << 10U;
constexpr std::size_t kOpening = 2;  // system prompt and task
constexpr std::size_t kMostOpening = std::size_t{256} << 10U;

std::string cut(const std::string& text, std::size_t most) {
  return text.size() > most ? util::to_valid_utf8(util::head_and_tail(text, most)) : text;
}

}  // namespace

json plain(const endpoint::Json& ordered) {
  return json::parse(endpoint::dump(ordered));
}

std::string bounded(const std::string& text) {
  return cut(text, kMostKept);
}

std::string KeptMessages::once(const std::string& text, std::int64_t turn) {
  if (text.size() <= kLong)
    return text;
  const std::string hash = util::sha256_hex(text);
  const auto [first, fresh] = first_.try_emplace(hash, turn);
  return fresh ? bounded(text)
               : fmt::format(
                     "[{} bytes as in turn {}, SHA-256 {}]", text.size(), first->second + 1, hash);
}

json KeptMessages::sent(const endpoint::Conversation& conversation, std::int64_t turn) {
  std::erase_if(first_, [turn](const auto& one) { return one.second == turn; });
  json out = json::array();
  for (endpoint::Message message : conversation) {
    const bool opening = out.size() < kOpening;
    message.text = opening ? cut(message.text, kMostOpening) : once(message.text, turn);
    message.reasoning = once(message.reasoning, turn);
    for (endpoint::ToolCall& call : message.calls)
      call.arguments = once(call.arguments, turn);
    endpoint::Json one = endpoint::to_json(message);
    one.erase("raw");  // kept in the request's artifact
    out.push_back(plain(one));
  }
  return out;
}

json KeptMessages::answer(const endpoint::Message& message, std::int64_t turn) {
  json items = json::array();
  if (!message.reasoning.empty())
    items.push_back({{"type", "reasoning"},
                     {"summary", json::array()},
                     {"content", {{{"type", "reasoning_text"}, {"text", message.reasoning}}}}});
  if (!message.text.empty())
    items.push_back({{"type", "message"},
                     {"role", "assistant"},
                     {"content", {{{"type", "output_text"}, {"text", once(message.text, turn)}}}}});
  for (const endpoint::ToolCall& call : message.calls)
    items.push_back({{"type", "function_call"},
                     {"call_id", call.id},
                     {"name", call.name},
                     {"arguments", once(call.arguments, turn)}});
  return items;
}

}  // namespace sweep::agent
