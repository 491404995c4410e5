// Whether an endpoint can be reached, takes the key and is what the configuration says.
#include "cli/probe.h"
#include "endpoint/base_url.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using endpoint::Api;
using endpoint::Json;

// The first of these members that is a positive number.
std::optional<std::int64_t> first_number(const Json& entry,
                                         std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::int64_t value = endpoint::integer_at(entry, name); value > 0) {
      return value;
    }
  }
  return std::nullopt;
}

std::string declared_limits(const Json& entry) {
  std::string out;
  if (const auto window = first_number(
          entry, {"context_length", "max_model_len", "context_window", "max_context_length"})) {
    out = fmt::format("context {}", *window);
  }
  const Json* provider = endpoint::member(entry, "top_provider");
  auto output = first_number(entry, {"max_completion_tokens", "max_output_tokens", "max_tokens"});
  if (!output && provider != nullptr) {
    output = first_number(*provider, {"max_completion_tokens"});
  }
  if (output) {
    out += fmt::format("{}output {}", out.empty() ? "" : ", ", *output);
  }
  return out;
}

// What /models says of the model.
void read_models(const ProbeSubject& subject, const std::string& body, ProbedModel& out) {
  const auto document = endpoint::parse_json(body);
  const Json* list = document ? endpoint::member(*document, "data") : nullptr;
  if (list == nullptr || !list->is_array()) {
    out.checks.push_back({"model", CheckState::none, "/models holds no list of models", ""});
    return;
  }
  std::vector<std::string> ids;
  for (const Json& entry : *list) {
    ids.push_back(endpoint::text_at(entry, "id"));
    if (ids.back() != subject.target.model) {
      continue;
    }
    out.checks.push_back(
        {"model", CheckState::ok, fmt::format("listed among {} models", list->size()), ""});
    if (const std::string limits = declared_limits(entry); !limits.empty()) {
      out.checks.push_back({"limits", CheckState::ok, "declared: " + limits + " tokens", ""});
    }
    return;
  }
  const auto near = util::closest(subject.target.model, ids);
  out.checks.push_back(
      {"model",
       CheckState::warn,
       fmt::format("'{}' is not among the {} models of /models", subject.target.model, ids.size()),
       near ? "did you mean deployment_name = \"" + *near + "\"?"
            : "check deployment_name; some servers list other names than they take"});
}

http::Request models_request(const endpoint::Target& target) {
  http::Request request;
  request.method = "GET";
  request.url = endpoint::join_url(target.base_url, "/models");
  if (!target.key.empty() && target.profile.auth != endpoint::Auth::none) {
    request.headers.push_back(target.profile.auth == endpoint::Auth::api_key
                                  ? http::Header{"api-key", target.key.reveal()}
                                  : http::Header{"Authorization", "Bearer " + target.key.reveal()});
  }
  request.limits = target.limits;
  request.limits.total =
      std::min<std::chrono::milliseconds>(request.limits.total, std::chrono::seconds(30));
  request.limits.first_byte = request.limits.total;
  request.route = http::environment_route(request.url);
  return request;
}

std::string how_to_reach(http::Fault fault) {
  switch (fault) {
    case http::Fault::resolve:
      return "check the host of base_url, the network and the proxy";
    case http::Fault::connect:
    case http::Fault::timeout_connect:
      return "is the server running there? check host, port and proxy of base_url";
    case http::Fault::tls:
      return "check https or http in base_url, and whether a proxy stands between";
    case http::Fault::certificate:
      return "point SSL_CERT_FILE at the CA that signed the server's certificate";
    default:
      return "try again; if it stays, ask whoever runs the server";
  }
}

std::string location(const http::Response& response) {
  const auto to = response.header("location");
  return to ? " to " + util::printable(to->substr(0, 120)) : "";
}

// What the status and the kind of answer of /models mean.
void judge_models(const ProbeSubject& subject,
                  const http::Response& response,
                  ProbeCheck& reach,
                  ProbedModel& out) {
  const int status = response.status;
  const bool page = util::trim(response.body).starts_with('<');
  std::string unknown = fmt::format("not known: HTTP {} from /models", status);
  if (status == 401 || status == 403) {
    const bool none = subject.target.key.empty();
    out.checks.push_back(
        {"key",
         CheckState::fail,
         fmt::format("/models {} (HTTP {})", none ? "wants a key" : "refused the key", status),
         none ? "name the key's variable with api_key_env"
              : std::string(endpoint::advice(endpoint::FailureKind::authentication))});
  } else if (status >= 300 && status < 400) {
    reach.state = CheckState::warn;
    reach.text += ", a redirect" + endpoint::redact(location(response), subject.target.key);
    reach.next = "write the final address as base_url: redirects are not followed";
  } else if (status >= 500) {
    reach.state = CheckState::warn;
    reach.next = "the server is there but at fault: see its log, or try later";
  } else if (page) {
    reach.state = CheckState::warn;
    reach.text += ", a web page where JSON belongs";
    reach.next = "check base_url: it usually ends in /v1";
    unknown = "not known: /models is a web page";
  } else if (status == 200) {
    read_models(subject, response.body, out);
    return;
  } else if (status == 404 || status == 405) {
    unknown = "/models is not offered";
  }
  out.checks.push_back({"model", CheckState::none, unknown, ""});
}

bool answers(const ProbeSubject& subject, Api api, const std::string& base_url) {
  ProbeSubject other = subject;
  other.target.api = api;
  other.target.base_url = base_url;
  const auto result =
      other.ask({{endpoint::Speaker::user, "sweep probe: reply with the single word ready."}},
                {},
                subject.target.stream,
                nullptr,
                false,
                1);
  return std::holds_alternative<endpoint::Completion>(result);
}

// What answers where the configured path does not; empty: nothing was found.
std::string other_way(const ProbeSubject& subject) {
  const Api api = subject.target.api;
  const Api other = api == Api::chat ? Api::responses : Api::chat;
  const std::string kind =
      other == Api::chat ? "api_kind = \"openai_chat\"" : "api_kind = \"openai\"";
  const std::string& url = subject.target.base_url;
  if (answers(subject, other, url)) {
    return "write  " + kind +
           "  in [[models]]: " + (other == Api::chat ? "/chat/completions" : "/responses") +
           " answers there";
  }
  const std::string longer = endpoint::join_url(url, "/v1");
  if (url.find("/v1") != std::string::npos) {
    return {};
  }
  const std::string shown = "write  base_url = \"" + http::public_url(longer) + "\"";
  if (answers(subject, api, longer)) {
    return shown + ": the model answers there";
  }
  return answers(subject, other, longer) ? shown + "  and  " + kind + ": the model answers there"
                                         : std::string();
}

}  // namespace

std::string milliseconds(double seconds) {
  return seconds < 10 ? fmt::format("{:.0f} ms", seconds * 1000) : util::human_seconds(seconds);
}

bool check_reach(const ProbeSubject& subject, ProbedModel& out) {
  const http::Request request = models_request(subject.target);
  const http::Response response = http::Client().perform(request);
  if (response.fault && response.status == 0) {
    out.checks.push_back({"reach",
                          CheckState::fail,
                          endpoint::redact(response.fault->text, subject.target.key),
                          how_to_reach(response.fault->fault)});
    return false;
  }
  const bool tls = request.url.starts_with("https:");
  ProbeCheck reach{"reach",
                   CheckState::ok,
                   fmt::format("{}HTTP {} from /models after {}",
                               tls ? "TLS, " : "",
                               response.status,
                               milliseconds(response.seconds)),
                   ""};
  // A key that is refused here may be good for the model alone: the answer decides.
  judge_models(subject, response, reach, out);
  out.checks.push_back(std::move(reach));
  return true;
}

void explain_failure(const ProbeSubject& subject,
                     const char* form,
                     const endpoint::EndpointFailure& failure,
                     ProbedModel& out) {
  ProbeCheck check = failed_check(form, failure);
  if (failure.kind == endpoint::FailureKind::authentication) {
    check.name = "key";
    const ProbeCheck* refused = out.find("key");
    check.text = (refused != nullptr ? refused->text + ", and so did the model's path: "
                                     : "the model's path refused the key: ") +
                 check.text;
    check.next = refused != nullptr ? refused->next : check.next;
  } else if (failure.kind == endpoint::FailureKind::not_an_endpoint && failure.status != 0) {
    const bool model =
        !failure.attempts.empty() && endpoint::names_no_model(failure.attempts.back().detail);
    const std::string way = subject.scripted || model ? std::string() : other_way(subject);
    if (model) {
      const ProbeCheck* listed = out.find("model");
      check.name = "model";
      if (listed != nullptr && listed->state == CheckState::warn) {
        check.next = listed->next;
      }
    } else {
      const ProbeCheck* reach = out.find("reach");
      check.name = "reach";
      check.next = reach != nullptr && !reach->next.empty() ? reach->next : check.next;
      check.text = (reach != nullptr ? reach->text + "; " : "") + check.text + " from " + out.url;
    }
    check.next = way.empty() ? check.next : way;
  }
  out.set(std::move(check));
}

}  // namespace sweep::cli
