#include "endpoint/sse.h"

namespace sweep::endpoint {

bool SseParser::feed(std::string_view bytes, const Sink& sink) {
  for (std::size_t i = 0; i < bytes.size() && !overflow_; ++i) {
    const char c = bytes[i];
    const bool pair = c == '\n' && after_cr_;
    after_cr_ = c == '\r';
    if (pair)
      continue;
    if (c == '\n' || c == '\r') {
      const std::string text = std::move(pending_);
      pending_.clear();
      line(text, sink);
    } else {
      pending_ += c;
      overflow_ = pending_.size() + data_.size() > max_;
    }
  }
  return !overflow_;
}

void SseParser::finish(const Sink& sink) {
  if (overflow_)
    return;
  if (!pending_.empty())
    line(std::string(std::move(pending_)), sink);
  pending_.clear();
  dispatch(sink);
}

void SseParser::line(std::string_view text, const Sink& sink) {
  if (!started_ && text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  started_ = true;
  if (text.empty()) {
    dispatch(sink);
    return;
  }
  const auto colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' '))
    value.remove_prefix(1);
  if (field == "data") {
    if (has_data_)
      data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "event") {
    name_ = value;
  }
}

void SseParser::dispatch(const Sink& sink) {
  // Proxies re-emit comments as `data: : keep-alive`, some servers send pings as events.
  if (!data_.empty() && data_[0] != ':' && name_ != "ping")
    sink({name_, data_});
  name_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace sweep::endpoint
