#include "endpoint/answer.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <utility>

namespace sweep::endpoint {
namespace {

bool is_html(std::string_view body) {
  return util::trim(body.substr(0, 256)).starts_with('<');
}

// A document out of a whole body: JSON as it is, or a stream put together.
std::variant<Json, WireError> document_of(const Protocol& protocol,
                                          const Asked& asked,
                                          std::string_view body) {
  const std::string_view text = util::trim(body);
  if (text.starts_with("\x1f\x8b"))
    return WireError{"the body is gzip, and no Content-Encoding says so", "hidden_gzip", "", "", 0};
  if (text.starts_with('{') || text.starts_with('[')) {
    auto json = parse_json(text);
    if (json)
      return std::move(*json);
    return WireError{"the answer is not complete JSON, or nested too deep", "bad_json", "", "", 0};
  }
  if (is_html(text))
    return WireError{
        "a web page came where JSON belongs: " + error_from_body(text).message, "html", "", "", 0};
  SseParser parser;
  const auto assembler = protocol.assembler(asked);
  const auto sink = [&](const SseEvent& event) { assembler->add(event); };
  const bool fits = parser.feed(body, sink);
  const bool sound = !assembler->error();
  parser.finish(sink);
  // A last event without its blank line that is no JSON was cut, not wrong.
  const bool cut = sound && assembler->error() && assembler->error()->code == "bad_event";
  if (assembler->error() && !cut)
    return *assembler->error();
  if (!fits)
    return WireError{
        "an event of the stream is larger than " + std::to_string(kMaxEventBytes >> 20U) + " MiB",
        "large_event",
        "",
        "",
        0};
  if (cut || !assembler->complete())
    return WireError{"the stream ended before its end marker", "cut_stream", "", "", 0};
  return assembler->take();
}

std::optional<bool> should_retry(const http::Response& response) {
  const auto said = response.header("x-should-retry");
  if (!said || (*said != "true" && *said != "false"))
    return std::nullopt;
  return *said == "true";
}

// A status that is no answer.
Outcome judge_status(const http::Response& response, double now) {
  Outcome out;
  out.status = response.status;
  out.error = error_from_body(response.body);
  if (response.status < 400)
    out.error.message = "redirects to " +
                        http::public_url(response.header("location").value_or("")) +
                        "; redirects are not followed, set base_url to the place itself";
  const bool delay_asked = response.header("retry-after") || response.header("retry-after-ms");
  out.kind = classify(response.status, out.error, delay_asked);
  out.asked = retry_after(response, out.error.message, now);
  out.should_retry = should_retry(response);
  return out;
}

// Whether a body began as an answer does, and not as a file that somebody serves.
bool begins_as_answer(std::string_view body) {
  const std::string_view head = util::trim(body.substr(0, 65536));
  return head.starts_with('{') || head.starts_with("data:") ||
         head.find("\ndata:") != std::string_view::npos;
}

// A transfer that ended by a fault.
Outcome judge_fault(const http::Response& response) {
  const http::TransportFault& fault = *response.fault;
  Outcome out;
  out.status = response.status;
  out.kind = classify(fault);
  // A model that says that much would say it again, and each time is paid for.
  if (fault.fault == http::Fault::too_large && response.status == 200 &&
      begins_as_answer(response.body))
    out.kind = FailureKind::answer_too_large;
  out.error.message = fault.text;
  if (fault.fault == http::Fault::certificate)
    out.error.message += "; name the CA that signed it in SSL_CERT_FILE";
  if (!response.body.empty())
    out.error.message += " (after " + std::to_string(response.body.size()) + " bytes)";
  out.os_error = fault.os_error;
  out.cut = fault.received_bytes && out.kind == FailureKind::transport;
  out.bad_encoding = fault.fault == http::Fault::bad_encoding;
  return out;
}

FailureKind kind_of(const WireError& error, const http::Response& response) {
  constexpr std::array<std::string_view, 6> broken = {
      "bad_json", "bad_event", "no_choices", "no_message", "no_output", "hidden_gzip"};
  if (error.code == "large_event")
    return FailureKind::answer_too_large;
  if (error.code == "html")
    return FailureKind::not_an_endpoint;
  if (error.code == "cut_stream")
    return FailureKind::transport;
  if (std::find(broken.begin(), broken.end(), error.code) != broken.end())
    return FailureKind::protocol;
  return classify(response.status, error);
}

}  // namespace

Outcome judge(const Protocol& protocol,
              const http::Response& response,
              bool stream,
              const Asked& asked,
              double wall_now) {
  if (response.status >= 300 || (response.status != 0 && response.status < 200))
    return judge_status(response, wall_now);
  if (response.fault && response.status == 0)
    return judge_fault(response);
  auto document = document_of(protocol, asked, response.body);
  // A transfer that broke after the end marker lost nothing.
  if (response.fault && (!stream || document.index() == 1))
    return judge_fault(response);
  std::variant<Completion, WireError> answer = WireError{};
  if (auto* json = std::get_if<Json>(&document))
    answer = protocol.interpret(std::move(*json), asked);
  else
    answer = std::get<WireError>(std::move(document));
  Outcome out;
  out.status = response.status;
  if (auto* completion = std::get_if<Completion>(&answer)) {
    completion->seconds = response.seconds;
    completion->first_byte_seconds = response.first_byte_seconds;
    for (const char* key : {"x-request-id", "apim-request-id", "x-ds-trace-id", "cf-ray"})
      if (completion->request_id.empty())
        completion->request_id = response.header(key).value_or("").substr(0, 128);
    out.completion = std::move(*completion);
    return out;
  }
  out.error = std::get<WireError>(answer);
  out.kind = kind_of(out.error, response);
  out.cut = out.error.code == "cut_stream";
  out.bad_encoding = out.error.code == "hidden_gzip";
  out.asked = retry_after(response, out.error.message, wall_now);
  return out;
}

namespace {

// "cannot reach 127.0.0.1:8000 (connection refused)", "HTTP 500 (out of memory)". The same words
// for the same trouble, so that it is told once.
std::string trouble_text(const Outcome& outcome, const std::string& place) {
  std::string what = outcome.os_error != 0 ? std::generic_category().message(outcome.os_error)
                                           : util::printable(outcome.error.message);
  if (outcome.os_error != 0 && !what.empty())
    what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
  const std::string said = what.empty() ? "" : " (" + what + ")";
  if (outcome.status != 0)
    return "HTTP " + std::to_string(outcome.status) + " from " + place + said;
  return "cannot reach " + place + said;
}

}  // namespace

record::TryEnd end_of(const Outcome& outcome, bool first_try, const std::string& place) {
  using Result = record::TryEnd::Result;
  record::TryEnd end;
  end.first_try = first_try;
  end.began = outcome.completion || outcome.lost.has_value();
  end.retry_after = outcome.asked.value_or(0);
  if (outcome.completion) {
    const Usage& usage = outcome.completion->usage;
    end.result = Result::answered;
    end.output_tokens = usage.output;
    if (usage.input >= 0)
      end.tokens = usage.input + std::max<std::int64_t>(usage.output, 0);
  } else if (outcome.kind == FailureKind::rate_limited) {
    end.result = Result::throttled;
    end.text = trouble_text(outcome, place);
  } else if (outcome.kind == FailureKind::overloaded || outcome.kind == FailureKind::transport) {
    end.result = Result::transient;
    end.reached = outcome.status != 0;
    end.text = trouble_text(outcome, place);
  } else if (is_configuration(outcome.kind)) {
    end.result = Result::refused;
    end.text = std::string(name(outcome.kind)) + ": " + outcome.error.message;
  }
  return end;
}

std::string partial_output(std::string_view body) {
  std::string out;
  SseParser parser;
  const auto add_event = [&](const SseEvent& event) {
    const auto json = parse_json(event.data);
    if (!json)
      return;
    out += text_at(*json, "delta");  // Responses
    const Json* choices = member(*json, "choices");
    if (choices == nullptr || !choices->is_array() || choices->empty())
      return;
    const Json* delta = member(choices->front(), "delta");
    if (delta == nullptr)
      return;
    for (const char* key : {"reasoning_content", "reasoning", "content"})
      out += text_at(*delta, key);
    const Json* calls = member(*delta, "tool_calls");
    if (calls == nullptr || !calls->is_array())
      return;
    for (const Json& call : *calls)
      if (const Json* function = member(call, "function"))
        out += text_at(*function, "arguments");
  };
  if (util::trim(body.substr(0, 256)).starts_with('{'))
    return util::to_valid_utf8(body);  // no stream: what came of the document
  parser.feed(body, add_event);
  return restore(out);
}

}  // namespace sweep::endpoint
