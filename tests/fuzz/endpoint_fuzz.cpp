// What an endpoint sends: an event stream in pieces, a whole body, an error, calls in text. The
// first byte chooses the API and the size of the pieces.
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "endpoint/protocol.h"
#include "endpoint/sse.h"
#include "endpoint/tool_text.h"
#include "target.h"

#include <string>

namespace sweep::fuzz {
namespace {

endpoint::Asked asked() {
  endpoint::Asked out;
  out.tools = {"submit", "compile"};
  return out;
}

void stream(const endpoint::Protocol& protocol, std::string_view bytes, std::size_t piece) {
  const auto assembler = protocol.assembler(asked());
  endpoint::SseParser parser(4096);
  const auto sink = [&](const endpoint::SseEvent& event) { (void)assembler->add(event); };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (!parser.feed(bytes.substr(at, piece), sink)) {
      return;
    }
  }
  parser.finish(sink);
  (void)assembler->progress();
  (void)protocol.interpret(assembler->take(), asked());
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) {
    return;
  }
  const auto choice = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  const auto protocol = choice % 2 == 0 ? endpoint::make_chat() : endpoint::make_responses();
  accepted([&] { stream(*protocol, input, 1 + choice / 2U); });
  if (auto body = endpoint::parse_json(input)) {
    accepted([&] { (void)protocol->interpret(std::move(*body), asked()); });
  }
  const endpoint::WireError error = endpoint::error_from_body(input);
  must(error.message.size() <= 300 + 64);
  (void)endpoint::classify(choice * 3, error);
  (void)endpoint::parse_http_date(input);
  (void)endpoint::parse_duration(input);
  (void)endpoint::calls_in_text(input, asked().tools);
  (void)endpoint::has_tool_markup(input);
  (void)endpoint::split_think(input);
}

}  // namespace sweep::fuzz
