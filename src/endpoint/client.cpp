#include "endpoint/client.h"

#include "endpoint/answer.h"
#include "endpoint/backoff.h"
#include "endpoint/base_url.h"
#include "endpoint/exchange.h"
#include "endpoint/failure.h"
#include "endpoint/protocol.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxDetail = 300;
constexpr double kSleepSlice = 0.2;  // how soon a cancellation ends a wait

class HttpEndpoint final : public Endpoint {
 public:
  HttpEndpoint(Target target, const Retry& retry, Services services)
      : target_(std::move(target)),
        retry_(retry),
        services_(std::move(services)),
        protocol_(make_protocol(target_.api)),
        backoff_(retry) {}

  std::variant<Completion, EndpointFailure> complete(const Conversation& conversation,
                                                     const std::vector<ToolDefinition>& tools,
                                                     const Settings& settings,
                                                     const OnProgress& progress,
                                                     Exchange* exchange) override;
  [[nodiscard]] std::variant<Completion, EndpointFailure> parse(
      const Exchange& exchange) const override;

 private:
  [[nodiscard]] http::Request http_request(std::string body) const;
  http::Response send(const http::Request& request, const OnProgress& progress);
  Outcome attempt(const std::string& body,
                  const std::vector<std::string>& tools,
                  const OnProgress& progress,
                  Exchange* exchange);
  bool adapt(const Outcome& outcome);
  void finish_completion(Completion& completion, std::size_t request_bytes) const;
  [[nodiscard]] EndpointFailure failure(const Outcome& outcome,
                                        std::vector<Attempt> attempts) const;
  bool wait(double seconds, FailureKind why);

  Target target_;
  Retry retry_;
  Services services_;
  std::unique_ptr<Protocol> protocol_;
  Backoff backoff_;
  http::Client client_;
  Adaptation adaptation_;
  bool plain_bodies_ = false;  // this endpoint mislabels what it encodes
  std::size_t produced_ = 0;   // bytes of output of the last streamed answer
};

http::Request HttpEndpoint::http_request(std::string body) const {
  http::Request request;
  request.url = join_url(target_.base_url, protocol_->path());
  if (!target_.instead.empty())
    request.url = instead_of_origin(request.url, target_.instead);
  request.headers = {
      {"Content-Type", "application/json"},
      {"Accept", target_.stream ? "text/event-stream, application/json" : "application/json"}};
  if (!target_.key.empty()) {
    if (target_.api_key_header)
      request.headers.push_back({"api-key", target_.key.reveal()});
    else
      request.headers.push_back({"Authorization", "Bearer " + target_.key.reveal()});
  }
  request.body = std::move(body);
  request.limits = target_.limits;
  request.route = target_.route;
  request.decode = !plain_bodies_;
  return request;
}

http::Response HttpEndpoint::send(const http::Request& request, const OnProgress& progress) {
  if (!target_.stream)
    return client_.perform(request, {}, services_.cancelled);
  // The stream is parsed twice, here for progress and its end, later for its content: one path
  // reads answers, whether they come from the network or from a record.
  SseParser parser;
  const auto assembler = protocol_->assembler();
  bool ended = false;
  produced_ = 0;
  const auto receive = [&](std::string_view bytes) {
    bool output = false;
    parser.feed(bytes, [&](const SseEvent& event) {
      output = assembler->add(event) || output;
      ended = ended || event.data == "[DONE]" ||
              (target_.api == Api::responses && assembler->complete());
    });
    const Progress so_far = assembler->progress();
    produced_ = so_far.text + so_far.reasoning + so_far.arguments;
    if (output && progress)
      progress(so_far);
    if (ended)
      return http::Chunk::finished;
    return output ? http::Chunk::progress : http::Chunk::keepalive;
  };
  return client_.perform(request, receive, services_.cancelled);
}

Outcome HttpEndpoint::attempt(const std::string& body,
                              const std::vector<std::string>& tools,
                              const OnProgress& progress,
                              Exchange* exchange) {
  const auto estimate = static_cast<std::int64_t>(body.size() / 4);
  const std::unique_ptr<Permit> permit =
      services_.permits != nullptr ? services_.permits->take(estimate) : nullptr;
  http::Response response = send(http_request(body), progress);
  // Before anything reads it: what is cut short later must not keep half a key.
  redact(response, target_.key);
  Outcome outcome = judge(*protocol_, response, target_.stream, tools, services_.clock->wall());
  if (outcome.completion)
    finish_completion(*outcome.completion, body.size());
  else if (response.status == 200 && !response.body.empty())
    outcome.lost = target_.stream ? produced_ : response.body.size();
  if (exchange != nullptr) {
    exchange->path = redact(path_of(join_url(target_.base_url, protocol_->path())), target_.key);
    exchange->tries.push_back(recorded(*protocol_,
                                       body,
                                       response,
                                       outcome.completion ? "ok" : std::string(name(outcome.kind)),
                                       target_.key));
    exchange->request = body;
    exchange->response = exchange->tries.back().response;
  }
  if (services_.permits != nullptr) {
    const bool known = outcome.completion && outcome.completion->usage.input >= 0;
    services_.permits->used(estimate,
                            known ? outcome.completion->usage.input +
                                        std::max<std::int64_t>(outcome.completion->usage.output, 0)
                                  : -1);
  }
  return outcome;
}

void HttpEndpoint::finish_completion(Completion& completion, std::size_t request_bytes) const {
  Message& message = completion.message;
  for (std::string* text : {&message.text, &message.reasoning, &message.raw})
    *text = redact(std::move(*text), target_.key);
  for (ToolCall& call : message.calls)
    call.arguments = redact(std::move(call.arguments), target_.key);
  if (completion.usage.input < 0 || completion.usage.output < 0) {
    std::size_t bytes = message.text.size() + message.reasoning.size();
    for (const ToolCall& call : message.calls)
      bytes += call.arguments.size() + call.name.size();
    completion.usage = {static_cast<std::int64_t>(request_bytes / 4),
                        -1,
                        static_cast<std::int64_t>(bytes / 4),
                        -1,
                        true,
                        -1,
                        std::nullopt};
    completion.flags.emplace_back("usage_estimated");
  }
  if (!completion.model.empty() && completion.model.find(target_.model) == std::string::npos)
    completion.flags.emplace_back("model_mismatch");
  for (const std::string& name : adaptation_.dropped)
    completion.flags.push_back("param_dropped:" + name);
  if (adaptation_.old_token_limit)
    completion.flags.emplace_back("param_renamed:max_tokens");
}

// A 400 that names an optional parameter: it is left out from now on. Each at most once.
bool HttpEndpoint::adapt(const Outcome& outcome) {
  if (outcome.status != 400 && outcome.status != 422)
    return false;
  const std::string words = outcome.error.param + " " + outcome.error.message;
  if (!adaptation_.old_token_limit && words.find("max_completion_tokens") != std::string::npos) {
    adaptation_.old_token_limit = true;
    return true;
  }
  for (const char* name : {"stream_options",
                           "temperature",
                           "top_p",
                           "seed",
                           "reasoning_effort",
                           "tool_choice",
                           "include",
                           "reasoning"})
    if (words.find(name) != std::string::npos && adaptation_.dropped.insert(name).second)
      return true;
  return false;
}

EndpointFailure HttpEndpoint::failure(const Outcome& outcome, std::vector<Attempt> attempts) const {
  EndpointFailure out;
  out.kind = outcome.kind;
  out.status = outcome.status;
  std::string what = outcome.status != 0 ? "HTTP " + std::to_string(outcome.status)
                                         : std::string(name(outcome.kind));
  if (!outcome.error.message.empty())
    what += " (" + redact(util::printable(outcome.error.message), target_.key) + ")";
  if (attempts.size() > 1)
    what += " after " + std::to_string(attempts.size()) + " tries";
  out.text = util::Message{http::public_url(join_url(target_.base_url, protocol_->path())),
                           what,
                           std::string(advice(outcome.kind))}
                 .text();
  out.retry = retryable(outcome.kind);
  out.retry_after = outcome.asked.value_or(0);
  out.configuration = is_configuration(outcome.kind);
  out.attempts = std::move(attempts);
  return out;
}

// False when cancelled meanwhile.
bool HttpEndpoint::wait(double seconds, FailureKind why) {
  if (services_.waiting)
    services_.waiting(std::string(name(why)), seconds);
  const auto cancelled = [&] { return services_.cancelled && services_.cancelled(); };
  for (double left = seconds; left > 0 && !cancelled(); left -= kSleepSlice)
    services_.clock->sleep(std::min(left, kSleepSlice));
  return !cancelled();
}

std::variant<Completion, EndpointFailure> HttpEndpoint::complete(
    const Conversation& conversation,
    const std::vector<ToolDefinition>& tools,
    const Settings& settings,
    const OnProgress& progress,
    Exchange* exchange) {
  std::vector<std::string> names;
  for (const ToolDefinition& tool : tools)
    names.push_back(tool.name);
  if (exchange != nullptr)
    *exchange = {};
  std::vector<Attempt> attempts;
  double waited = 0;
  int failures = 0;
  const double start = services_.clock->monotonic();
  for (;;) {
    const std::string body =
        dump(protocol_->request(target_, conversation, tools, settings, adaptation_));
    const double before = services_.clock->monotonic();
    Outcome outcome = attempt(body, names, progress, exchange);
    const double now = services_.clock->monotonic();
    attempts.push_back(
        {outcome.status,
         outcome.completion ? "ok" : std::string(name(outcome.kind)),
         redact(util::head_and_tail(util::printable(outcome.error.message), kMaxDetail),
                target_.key),
         now - before,
         waited});
    if (outcome.lost) {
      attempts.back().lost_input = static_cast<std::int64_t>(body.size() / 4);
      attempts.back().lost_output = static_cast<std::int64_t>(*outcome.lost / 4);
    }
    if (outcome.completion) {
      outcome.completion->attempts = std::move(attempts);
      return std::move(*outcome.completion);
    }
    waited = 0;
    if (outcome.kind == FailureKind::bad_request && adapt(outcome))
      continue;
    ++failures;
    const double delay = backoff_.delay(failures, outcome.asked);
    if (!retryable(outcome.kind) || failures >= retry_.max_attempts ||
        outcome.asked.value_or(0) > retry_.max_retry_after || now - start + delay > retry_.deadline)
      return failure(outcome, std::move(attempts));
    if (!wait(delay, outcome.kind)) {
      outcome.kind = FailureKind::cancelled;
      return failure(outcome, std::move(attempts));
    }
    waited = delay;
  }
}

std::variant<Completion, EndpointFailure> HttpEndpoint::parse(const Exchange& exchange) const {
  http::Response response;
  response.status = 200;
  response.body = exchange.response;
  const auto request = parse_json(exchange.request);
  Outcome outcome = judge(*protocol_,
                          response,
                          target_.stream,
                          request ? protocol_->tool_names(*request) : std::vector<std::string>(),
                          services_.clock->wall());
  if (!outcome.completion)
    return failure(outcome, {});
  finish_completion(*outcome.completion, exchange.request.size());
  return std::move(*outcome.completion);
}

}  // namespace

std::unique_ptr<Endpoint> connect(Target target, Retry retry, Services services) {
  check_url(target.base_url);
  if (services.clock == nullptr)
    throw util::InfraError({"endpoint", "no clock was given", ""}, "E_ENDPOINT_SETUP");
  const http::Route route = http::environment_route(target.base_url);
  for (const auto part : {&http::Route::proxy, &http::Route::no_proxy, &http::Route::ca_file})
    if ((target.route.*part).empty())
      target.route.*part = route.*part;
  return std::make_unique<HttpEndpoint>(std::move(target), retry, std::move(services));
}

}  // namespace sweep::endpoint
