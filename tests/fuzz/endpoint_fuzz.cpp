// What an endpoint sends: an event stream in pieces, a whole body, an error, calls in text. The
// first byte chooses the API and the size of the pieces.
#include "endpoint/arguments.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "endpoint/profile.h"
#include "endpoint/protocol.h"
#include "endpoint/replay_server.h"
#include "endpoint/sse.h"
#include "endpoint/think.h"
#include "endpoint/tool_text.h"
#include "target.h"

#include <string>

namespace sweep::fuzz {
namespace {

endpoint::Asked asked() {
  endpoint::Asked out;
  out.offer.tools = {"submit", "compile"};
  out.offer.types[{"submit", "n"}] = "integer";
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

// Calls and reasoning in text, arguments, profiles: whatever is taken as a call is sound.
void text(std::string_view input, unsigned char choice) {
  const endpoint::Profile all;
  const endpoint::Asked request = asked();
  const endpoint::TextCalls found = endpoint::calls_in_text(input, request.offer, all.tool_markup);
  for (const endpoint::ToolCall& call : found.calls) {
    must(call.name == "submit" || call.name == "compile");
    const auto arguments = endpoint::parse_json(call.arguments);
    must(call.problem.empty() && arguments && arguments->is_object());
  }
  (void)endpoint::has_tool_markup(input);
  const endpoint::ThinkSplit split = endpoint::split_think(input, choice % 2 == 0);
  must(split.reasoning.size() + split.text.size() <= input.size());
  endpoint::ToolCall call;
  call.arguments = input;
  endpoint::check_arguments(
      call, false, choice % 2 == 0 ? endpoint::Repair::safe : endpoint::Repair::off);
  if (call.problem.empty()) {
    const auto arguments = endpoint::parse_json(call.arguments);
    must(arguments && arguments->is_object());
  }
  endpoint::Profile profile;
  const auto keys = endpoint::profile_keys();
  (void)endpoint::set(profile, keys[choice % keys.size()], input);
  (void)endpoint::to_json(profile);
  (void)endpoint::profile_for(input);
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
  text(input, choice);
  must(endpoint::replay_key("/v1", input) == endpoint::replay_key("/v1", std::string(input)));
  must(endpoint::first_difference(input, input).empty());
  (void)endpoint::first_difference(input, input.substr(0, input.size() / 2));
}

}  // namespace sweep::fuzz
