// What of a conversation is sent: its sliding window, and what an overflow takes out.
#include "agent/prompt.h"
#include "agent/session.h"
#include "endpoint/json.h"
#include "util/excerpt.h"

#include <algorithm>

namespace sweep::agent {
namespace {

constexpr std::size_t kHead = 2;            // system prompt and task stay
constexpr std::size_t kShortResult = 4096;  // bytes of a tool's result that an overflow leaves

std::size_t bytes_of(const endpoint::Message& message) {
  endpoint::Json one = endpoint::to_json(message);
  one.erase("raw");  // the same again
  return endpoint::dump(one).size();
}

std::size_t bytes_of(const endpoint::Conversation& conversation) {
  std::size_t sum = 0;
  for (const endpoint::Message& message : conversation)
    sum += bytes_of(message);
  return sum;
}

}  // namespace

endpoint::Conversation Session::window() {
  const auto tail = static_cast<std::size_t>(std::max<std::int64_t>(harness_.tail_messages, 0));
  std::size_t from = std::min(kHead, conversation_.size());
  if (tail > 0 && conversation_.size() > tail + kHead)
    from = conversation_.size() - tail;
  from = std::max(from, left_out_);
  if (from <= kHead)
    return conversation_;
  // A tool's answer without its call is refused by servers.
  while (from < conversation_.size() && conversation_[from].speaker == endpoint::Speaker::tool)
    ++from;
  endpoint::Conversation out(conversation_.begin(), conversation_.begin() + kHead);
  out.back().text += "\n\n" + fill_prompt("left_out.md");
  // Nor do all of them take two messages of the user's in a row.
  for (; from < conversation_.size() && conversation_[from].speaker == endpoint::Speaker::user;
       ++from)
    out.back().text += "\n\n" + conversation_[from].text;
  out.insert(
      out.end(), conversation_.begin() + static_cast<std::ptrdiff_t>(from), conversation_.end());
  trajectory_.chat_history_window_truncated = true;
  return out;
}

bool Session::trim(record::Turn& turn) {
  const endpoint::Conversation before = window();
  const std::size_t bytes = bytes_of(before);
  // The model's answers begin turns: whole turns go, the oldest first, down to half of what was too
  // much; the last one stays.
  std::vector<std::size_t> turns;
  for (std::size_t i = std::max(kHead, left_out_); i < conversation_.size(); ++i)
    if (conversation_[i].speaker == endpoint::Speaker::assistant)
      turns.push_back(i);
  for (std::size_t i = 1; i < turns.size() && bytes_of(window()) > bytes / 2; ++i)
    left_out_ = turns[i];
  std::size_t cut = 0;
  for (std::size_t i = std::max(kHead, left_out_); i < conversation_.size(); ++i) {
    endpoint::Message& message = conversation_[i];
    if (bytes_of(window()) <= bytes / 2)
      break;
    if (message.speaker == endpoint::Speaker::tool && message.text.size() > kShortResult) {
      message.text = util::excerpt(message.text, kShortResult);
      ++cut;
    }
  }
  const endpoint::Conversation after = window();
  if (after.size() == before.size() && cut == 0)
    return false;
  turn.trimmed = {{"reason", "overflow"},
                  {"messages", before.size() - after.size()},
                  {"results_cut", cut},
                  {"bytes_before", bytes},
                  {"bytes_after", bytes_of(after)}};
  return true;
}

}  // namespace sweep::agent
