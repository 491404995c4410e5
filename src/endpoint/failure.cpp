#include "endpoint/failure.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxMessage = 300;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

std::string scalar_text(const Json* value) {
  if (value == nullptr)
    return {};
  return value->is_string()   ? value->get<std::string>()
         : value->is_object() ? std::string()
                              : dump(*value);
}

// The words of an error value, which may be a string, an object or a list.
void read_error(const Json& error, WireError& out) {
  if (error.is_string()) {
    out.message = error.get<std::string>();
    return;
  }
  if (error.is_array()) {
    if (!error.empty())
      read_error(error.front(), out);
    return;
  }
  if (!error.is_object())
    return;
  out.message = text_at(error, "message");
  if (out.message.empty())
    out.message = text_at(error, "msg");
  out.code = scalar_text(member(error, "code"));
  out.type = text_at(error, "type");
  out.param = text_at(error, "param");
  if (const Json* inner = member(error, "innererror"); inner != nullptr && out.code.empty())
    out.code = text_at(*inner, "code");
  const std::int64_t status = integer_at(error, "status", integer_at(error, "code", 0));
  if (status >= 400 && status < 600)
    out.status = static_cast<int>(status);
}

// Tags and runs of white space out of an HTML page.
std::string strip_html(std::string_view html) {
  std::string out;
  bool in_tag = false;
  html = html.substr(0, 65536);
  for (std::size_t at = 0; at < html.size(); ++at) {
    for (const std::string_view code : {"style", "script"})
      if (html[at] == '<' && lower(html.substr(at + 1, code.size())) == code)
        at = std::min(html.find("</", at), html.size() - 1);
    const char c = html[at];
    if (c == '<')
      in_tag = true;
    else if (c == '>')
      in_tag = false;
    else if (!in_tag && std::isspace(static_cast<unsigned char>(c)) == 0)
      out += c;
    if ((c == '>' || std::isspace(static_cast<unsigned char>(c)) != 0) && !out.empty() &&
        out.back() != ' ')
      out += ' ';
  }
  return out;
}

bool is_filter(const WireError& error, std::string_view words) {
  return error.code == "content_filter" || has_any(words,
                                                   {"responsibleaipolicyviolation",
                                                    "content_policy_violation",
                                                    "content management policy",
                                                    "content_filter"});
}

// Money or quota that no wait brings back. A code alone is enough unless a wait was asked for or
// the words speak of a span of time; words alone must name money.
bool is_quota(const WireError& error, std::string_view words, bool delay_asked) {
  if (delay_asked || has_any(words,
                             {"per minute",
                              "per second",
                              "per day",
                              "concurren",
                              "try again in ",
                              "retry in ",
                              "retry after "}))
    return false;
  const std::string code = lower(error.code + " " + error.type);
  return has_any(code,
                 {"insufficient_quota",
                  "billing_hard_limit",
                  "billing_not_active",
                  "credit",
                  "insufficient_balance",
                  "exceeded_current_quota"}) ||
         has_any(words,
                 {"check your plan and billing",
                  "credit balance is too low",
                  "insufficient balance",
                  "insufficient credits",
                  "no credits"});
}

}  // namespace

std::string_view name(FailureKind kind) {
  constexpr std::array<std::string_view, 12> names = {"rate_limited",
                                                      "overloaded",
                                                      "transport",
                                                      "protocol",
                                                      "context_overflow",
                                                      "content_filter",
                                                      "answer_too_large",
                                                      "quota",
                                                      "authentication",
                                                      "bad_request",
                                                      "not_an_endpoint",
                                                      "cancelled"};
  return names.at(static_cast<std::size_t>(kind));
}

std::optional<WireError> error_in(const Json& body) {
  if (body.is_array())
    return body.empty() ? std::nullopt : error_in(body.front());
  for (const char* key : {"error", "errors", "detail"}) {
    const Json* error = member(body, key);
    if (error == nullptr || (error->is_array() && error->empty()) ||
        (error->is_string() && text_at(body, key).empty()))
      continue;
    WireError out;
    read_error(*error, out);
    if (out.message.empty())
      out.message = text_at(body, "message").empty() ? dump(*error) : text_at(body, "message");
    if (out.code.empty())
      out.code = scalar_text(member(body, "code"));
    const std::int64_t status = integer_at(body, "status", 0);
    if (out.status == 0 && status >= 400 && status < 600)
      out.status = static_cast<int>(status);
    out.message = util::head_and_tail(restore(out.message), kMaxMessage);
    return out;
  }
  return std::nullopt;
}

WireError error_from_body(std::string_view body) {
  WireError out;
  const auto json = parse_json(body.substr(0, std::size_t{1} << 20));
  if (json) {
    if (auto found = error_in(*json))
      return *found;
    out.message = text_at(*json, "message");
    out.code = scalar_text(member(*json, "code"));
  }
  if (out.message.empty())
    out.message =
        util::trim(body).starts_with('<') ? strip_html(body) : std::string(body.substr(0, 4096));
  out.message = util::head_and_tail(util::to_valid_utf8(util::trim(out.message)), kMaxMessage);
  return out;
}

bool never_fits(const WireError& error) {
  const std::string words = lower(error.message);
  return has_any(words, {"request too large"}) &&
         has_any(words, {"tokens per min", "(tpm)", "requested "});
}

FailureKind classify(int status, const WireError& error, bool delay_asked) {
  if (status < 400 && error.status != 0)
    status = error.status;
  const std::string words = lower(error.message + " " + error.code + " " + error.type);
  if (is_filter(error, words))
    return FailureKind::content_filter;
  if (is_quota(error, words, delay_asked) || status == 402)
    return FailureKind::quota;
  if (status == 429 && never_fits(error))
    return FailureKind::bad_request;
  if (status == 429 || error.code == "rate_limit_exceeded")
    return FailureKind::rate_limited;
  if (status == 413 || is_overflow(words))
    return FailureKind::context_overflow;
  if (status == 401 || status == 403)
    return FailureKind::authentication;
  if (status == 404 || status == 405 || (status >= 300 && status < 400))
    return FailureKind::not_an_endpoint;
  if (status == 501 || status == 505)
    return FailureKind::bad_request;
  if (status >= 500 || status == 408 || status == 409 || status == 425 ||
      error.code == "server_error")
    return FailureKind::overloaded;
  if (status >= 400)
    return FailureKind::bad_request;
  return error.type == "invalid_request_error" || error.code == "invalid_prompt"
             ? FailureKind::bad_request
             : FailureKind::overloaded;
}

FailureKind classify(const http::TransportFault& fault) {
  switch (fault.fault) {
    case http::Fault::bad_url:
    case http::Fault::certificate:
      return FailureKind::not_an_endpoint;
    case http::Fault::cancelled:
      return FailureKind::cancelled;
    case http::Fault::too_large:
    case http::Fault::bad_encoding:
      return FailureKind::protocol;
    default:
      return FailureKind::transport;
  }
}

bool retryable(FailureKind kind) {
  return kind == FailureKind::rate_limited || kind == FailureKind::overloaded ||
         kind == FailureKind::transport || kind == FailureKind::protocol;
}

bool is_configuration(FailureKind kind) {
  return kind == FailureKind::quota || kind == FailureKind::authentication ||
         kind == FailureKind::not_an_endpoint;
}

std::string_view advice(FailureKind kind) {
  switch (kind) {
    case FailureKind::rate_limited:
      return "lower rpm, tpm or max_concurrency of this model, or try later";
    case FailureKind::overloaded:
      return "try later, the endpoint is at fault";
    case FailureKind::transport:
      return "check that the endpoint is up and reachable from here";
    case FailureKind::protocol:
      return "check that base_url is an OpenAI-compatible endpoint and api_kind fits it";
    case FailureKind::context_overflow:
      return "lower [agent] max_turns or tool_output_context_max_chars";
    case FailureKind::content_filter:
      return "the provider refuses this conversation";
    case FailureKind::answer_too_large:
      return "set max_tokens in [models.sampling], since another try would be as long";
    case FailureKind::quota:
      return "the account has no quota left";
    case FailureKind::authentication:
      return "check the key in the variable that api_key_env names";
    case FailureKind::bad_request:
      return "check deployment_name, api_kind and [models.sampling], see `sweep probe FILE`";
    case FailureKind::not_an_endpoint:
      return "check base_url (it usually ends in /v1), api_kind (\"openai_chat\" where the server "
             "has "
             "no /responses) and deployment_name, see `sweep probe FILE`";
    case FailureKind::cancelled:
      return "run the same command again to go on";
  }
  return {};
}

bool names_no_model(std::string_view message) {
  const std::string words = lower(message);
  return has_any(words,
                 {"model_not_found", "deploymentnotfound", "unknown model", "no such model"}) ||
         (has_any(words, {"model", "deployment"}) &&
          has_any(words, {"not found", "does not exist", "not exist", "no endpoints found"}));
}

std::string advice(FailureKind kind, std::string_view message) {
  if (lower(message).find("enable-auto-tool-choice") != std::string::npos)
    return "start vLLM with --enable-auto-tool-choice --tool-call-parser NAME, the parser of this "
           "model";
  const bool refused = kind == FailureKind::not_an_endpoint || kind == FailureKind::bad_request;
  if (refused && names_no_model(message))
    return "check deployment_name: the endpoint has no such model" + std::string(kSeeProbe);
  return std::string(advice(kind));
}

}  // namespace sweep::endpoint
