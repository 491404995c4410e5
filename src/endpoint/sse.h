#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sweep::endpoint {

inline constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20;

struct SseEvent {
  std::string event;  // "" unless named
  std::string data;   // data lines joined by '\n'
};

// Parser of server-sent events (WHATWG HTML, 9.2) for bytes in pieces of any size: CR, LF and CRLF
// end lines, also across pieces; a byte-order mark is skipped; comments, events without data and
// events named "ping" are dropped.
class SseParser {
 public:
  using Sink = std::function<void(const SseEvent&)>;

  explicit SseParser(std::size_t max_event_bytes = kMaxEventBytes) : max_(max_event_bytes) {}

  // Returns false once an event is larger than the limit; nothing is parsed from then on.
  bool feed(std::string_view bytes, const Sink& sink);

  // End of the stream: an event without its blank line is given out as well.
  void finish(const Sink& sink);

 private:
  void line(std::string_view text, const Sink& sink);
  void dispatch(const Sink& sink);

  std::size_t max_;
  std::string pending_;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool started_ = false;
  bool overflow_ = false;
};

}  // namespace sweep::endpoint
