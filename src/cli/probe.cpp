#include "cli/probe.h"

#include "cli/style.h"
#include "endpoint/base_url.h"
#include "endpoint/builtin.h"
#include "endpoint/json.h"
#include "endpoint/profile.h"
#include "endpoint/target.h"
#include "http/client.h"
#include "util/clock.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using endpoint::Json;

constexpr double kPatience = 60;           // seconds of a question and its second try
constexpr std::int64_t kMaxOutput = 2048;  // enough for a model that thinks before a short answer

std::string milliseconds(double seconds) {
  return seconds < 10 ? fmt::format("{:.0f} ms", seconds * 1000) : util::human_seconds(seconds);
}

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
  if (!target.key.empty()) {
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

void note_timing(const endpoint::Completion& answer, ProbedModel& out) {
  out.first_token_s = answer.first_byte_seconds;
  const double rest = answer.seconds - answer.first_byte_seconds;
  if (answer.usage.output > 1 && rest > 0.001) {
    out.tokens_per_s = static_cast<double>(answer.usage.output) / rest;
  }
}

std::string answer_text(const endpoint::Completion& answer) {
  std::string text = fmt::format("\"{}\", {} tokens in {}",
                                 util::printable(answer.message.text.substr(0, 24)),
                                 answer.usage.output,
                                 util::human_seconds(answer.seconds));
  if (answer.usage.estimated) {
    text += ", tokens estimated: the endpoint counts none";
  }
  return text;
}

// One of the two forms of an answer.
std::optional<endpoint::Completion> check_form(const ProbeSubject& subject,
                                               bool stream,
                                               ProbedModel& out) {
  const char* name = stream ? "stream" : "answer";
  const auto result = subject.ask(
      {{endpoint::Speaker::user, "sweep probe: reply with the single word ready."}}, {}, stream);
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
    out.checks.push_back(failed_check(name, *failure));
    // Only the form that the configuration asks for decides.
    if (stream != subject.target.stream) {
      out.checks.back().state = CheckState::warn;
      out.checks.back().next =
          stream ? "leave stream = false in [[models]]" : "leave stream = true in [[models]]";
    }
    return std::nullopt;
  }
  const auto& answer = std::get<endpoint::Completion>(result);
  ProbeCheck check{name, CheckState::ok, answer_text(answer), ""};
  if (answer.message.text.empty()) {
    check.state = CheckState::warn;
    check.text = fmt::format(
        "no text (finish {}), {} tokens", endpoint::name(answer.finish), answer.usage.output);
    check.next = "raise max_tokens if the model thinks longer, or check its chat template";
  }
  if (stream) {
    note_timing(answer, out);
    check.text = "first token after " + milliseconds(answer.first_byte_seconds) +
                 (out.tokens_per_s ? fmt::format(", {:.0f} tokens/s", *out.tokens_per_s) : "");
  }
  for (const std::string& flag : answer.flags) {
    if (flag.starts_with("param_")) {
      check.state = CheckState::warn;
      check.text += ", " + flag;
      check.next = "the endpoint refuses this parameter: leave it out of [models.sampling]";
    }
  }
  out.checks.push_back(std::move(check));
  return answer;
}

}  // namespace

bool ProbedModel::ready() const {
  return std::ranges::none_of(
      checks, [](const ProbeCheck& check) { return check.state == CheckState::fail; });
}

std::variant<endpoint::Completion, endpoint::EndpointFailure> ProbeSubject::ask(
    const endpoint::Conversation& conversation,
    const std::vector<endpoint::ToolDefinition>& tools,
    bool stream,
    endpoint::Exchange* exchange,
    bool tool_required,
    int tries) const {
  util::RealClock clock;
  endpoint::Retry retry;
  retry.max_attempts = tries;
  retry.max_retry_after = 30;
  // A rate limit would be waited out for the whole deadline.
  retry.deadline = tries == 1 ? 0 : std::min(model.request_timeout_s, kPatience);
  endpoint::Settings settings;
  settings.temperature = model.sampling.temperature;
  settings.top_p = model.sampling.top_p;
  settings.seed = model.sampling.seed;
  settings.max_output_tokens = std::min(model.sampling.max_tokens.value_or(kMaxOutput), kMaxOutput);
  settings.reasoning_effort = model.reasoning_effort.value_or("");
  settings.tool_required = tool_required;
  endpoint::Target to = target;
  to.stream = stream;
  return endpoint::connect(std::move(to), retry, {&clock, nullptr, {}, {}})
      ->complete(conversation, tools, settings, {}, exchange);
}

ProbeCheck failed_check(std::string name, const endpoint::EndpointFailure& failure) {
  // The failure's text is "where: what; next".
  const std::string& text = failure.text;
  const auto where = text.find(": ");
  const auto next = text.rfind("; ");
  ProbeCheck out{std::move(name), CheckState::fail, text, ""};
  if (where != std::string::npos && next != std::string::npos && next > where) {
    out.text = text.substr(where + 2, next - where - 2);
    out.next = text.substr(next + 2);
  }
  return out;
}

bool check_reach(const ProbeSubject& subject, ProbedModel& out) {
  const http::Request request = models_request(subject.target);
  http::Response response = http::Client().perform(request);
  if (response.fault && response.status == 0) {
    out.checks.push_back({"reach",
                          CheckState::fail,
                          endpoint::redact(response.fault->text, subject.target.key),
                          how_to_reach(response.fault->fault)});
    return false;
  }
  const bool tls = request.url.starts_with("https:");
  out.checks.push_back({"reach",
                        CheckState::ok,
                        fmt::format("{}HTTP {} from /models after {}",
                                    tls ? "TLS, " : "",
                                    response.status,
                                    milliseconds(response.seconds)),
                        ""});
  if (response.status == 200) {
    read_models(subject, response.body, out);
  } else {
    // A key that is refused here may be good for the model alone: the answer decides.
    out.checks.push_back({"model", CheckState::none, "/models is not offered", ""});
  }
  return true;
}

bool check_answers(const ProbeSubject& subject, ProbedModel& out) {
  const auto first = check_form(subject, subject.target.stream, out);
  if (!first) {
    return false;
  }
  if (!first->model.empty() && first->model != subject.target.model) {
    const bool dated = first->model.starts_with(subject.target.model);
    out.checks.push_back(
        {"name",
         dated ? CheckState::ok : CheckState::warn,
         "answers as " + util::printable(first->model.substr(0, 80)),
         dated ? "" : "another model than asked for may have answered: check deployment_name"});
  }
  (void)check_form(subject, !subject.target.stream, out);
  return true;
}

ProbedModel probe_model(const config::Model& model,
                        const std::string& base_url,
                        endpoint::Secret key,
                        const ProbeStages& stages) {
  ProbeSubject subject{model,
                       endpoint::target_of(model, base_url, std::move(key)),
                       !endpoint::builtin_name(model.base_url).empty()};
  const bool chat = subject.target.api == endpoint::Api::chat;
  const std::string url =
      endpoint::request_url(subject.target, chat ? "/chat/completions" : "/responses");
  ProbedModel out;
  out.model = model.name;
  out.url = http::public_url(url);
  out.api = chat ? "Chat Completions" : "Responses";
  out.profile = endpoint::summary(model.endpoint, base_url);
  if (const std::string proxy = http::environment_route(url).proxy; !proxy.empty()) {
    out.proxy = http::public_url(proxy);
  }
  if (!check_reach(subject, out) || !check_answers(subject, out)) {
    return out;
  }
  check_tools(subject, out);
  if (stages.context) {
    check_context(subject, out);
  }
  if (stages.stress) {
    check_stress(subject,
                 stages.concurrency > 0
                     ? stages.concurrency
                     : static_cast<std::size_t>(std::max<std::int64_t>(1, model.max_concurrency)),
                 out);
  }
  if (stages.soak) {
    check_soak(subject, stages.minutes, out);
  }
  return out;
}

}  // namespace sweep::cli
