#include "endpoint/client.h"

#include "endpoint/answer.h"
#include "endpoint/backoff.h"
#include "endpoint/base_url.h"
#include "endpoint/exchange.h"
#include "endpoint/failure.h"
#include "endpoint/protocol.h"
#include "endpoint/retry.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxDetail = 300;
constexpr std::size_t kMaxPartial = 4096;
constexpr double kBytesPerToken = 3.5;
// Refusals (403, 404, a page, a redirect) after which a request fails rather than waits for a
// mended endpoint: in a conversation that was answered before they are about this request
// (moderation, a firewall); a first request waits longer.
constexpr int kRefusalsLater = 3;
constexpr int kRefusalsFirst = 6;
constexpr double kSleepSlice = 0.2;  // how soon a cancellation ends a wait

std::string host_and_port(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t from = scheme == std::string::npos ? 0 : scheme + 3;
  return url.substr(from, url.find('/', from) - from);
}

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
  [[nodiscard]] std::string url() const;
  [[nodiscard]] http::Request http_request(std::string body) const;
  http::Response send(const http::Request& request, const Asked& asked, const OnProgress& progress);
  Outcome attempt(const std::string& body,
                  const Asked& asked,
                  const OnProgress& progress,
                  Exchange* exchange);
  [[nodiscard]] EndpointFailure failure(const Outcome& outcome,
                                        std::vector<Attempt> attempts) const;
  [[nodiscard]] Attempt attempt_of(const Outcome& outcome,
                                   std::size_t request_bytes,
                                   double seconds,
                                   double waited) const;
  bool wait(double seconds, FailureKind why);
  std::unique_ptr<Permit> permitted(std::size_t bytes);  // null: given up, or none are kept
  void note_size(const Outcome& outcome, std::size_t bytes);

  Target target_;
  Retry retry_;
  Services services_;
  std::unique_ptr<Protocol> protocol_;
  Backoff backoff_;
  http::Client client_;
  Adaptation adaptation_;
  bool plain_bodies_ = false;               // this endpoint mislabels what it encodes
  std::optional<std::int64_t> max_output_;  // of the request under way
  bool answered_ = false;                   // a request of this object
  bool first_try_ = true;                   // likewise
  double limited_ = 0;                      // seconds waited for permits
  std::size_t known_bytes_ = 0;             // of the last body whose tokens the endpoint counted
  std::int64_t known_tokens_ = 0;           // and how many they were
  std::size_t produced_ = 0;                // bytes of output of the last streamed answer
};

std::string HttpEndpoint::url() const {
  return request_url(target_, protocol_->path());
}

http::Request HttpEndpoint::http_request(std::string body) const {
  http::Request request;
  request.url = url();
  if (!target_.instead.empty())
    request.url = instead_of_origin(request.url, target_.instead);
  request.headers = {
      {"Content-Type", "application/json"},
      {"Accept", target_.stream ? "text/event-stream, application/json" : "application/json"}};
  if (!target_.key.empty()) {
    if (target_.profile.auth == Auth::api_key)
      request.headers.push_back({"api-key", target_.key.reveal()});
    else if (target_.profile.auth == Auth::bearer)
      request.headers.push_back({"Authorization", "Bearer " + target_.key.reveal()});
  }
  request.body = std::move(body);
  request.limits = target_.limits;
  request.route = target_.route;
  request.decode = !plain_bodies_;
  return request;
}

// What may be shown of an answer that still comes: no key, and no part of one at an end that was
// cut.
std::string shown(std::string text, const Secret& key) {
  text = redact(std::move(text), key);
  const std::size_t longest = 3 * key.reveal().size();  // as any encoding spells it
  if (text.size() + longest >= Progress::kShown)
    text.erase(0, longest);
  text.resize(text.size() - std::min(text.size(), longest));
  return text;
}

http::Response HttpEndpoint::send(const http::Request& request,
                                  const Asked& asked,
                                  const OnProgress& progress) {
  if (!target_.stream) {
    // Servers send empty lines while a request waits its turn.
    const auto blank = [](std::string_view bytes) {
      return util::trim(bytes).empty() ? http::Chunk::keepalive : http::Chunk::progress;
    };
    return client_.perform(request, blank, services_.cancelled);
  }
  // The stream is parsed twice, here for progress and its end, later for its content: one path
  // reads answers, whether they come from the network or from a record.
  SseParser parser;
  const auto assembler = protocol_->assembler(asked);
  bool ended = false;
  char first = 0;  // of the body, behind blanks
  produced_ = 0;
  const auto receive = [&](std::string_view bytes) {
    bool output = false;
    if (const std::string_view text = util::trim(bytes); first == 0 && !text.empty())
      first = text.front();
    const bool fits = parser.feed(bytes, [&](const SseEvent& event) {
      output = assembler->add(event) || output;
      ended = ended || event.data == "[DONE]" ||
              (target_.api == Api::responses && assembler->complete());
    });
    Progress so_far = assembler->progress();
    produced_ = so_far.text + so_far.reasoning + so_far.arguments;
    if (output && progress) {
      so_far.text_end = shown(std::move(so_far.text_end), target_.key);
      so_far.reasoning_end = shown(std::move(so_far.reasoning_end), target_.key);
      progress(so_far);
    }
    // Some servers send one document all the same, which is no event.
    if (ended || (!fits && first != '{' && first != '['))
      return http::Chunk::finished;
    return output ? http::Chunk::progress : http::Chunk::keepalive;
  };
  return client_.perform(request, receive, services_.cancelled);
}

Outcome HttpEndpoint::attempt(const std::string& body,
                              const Asked& asked,
                              const OnProgress& progress,
                              Exchange* exchange) {
  const std::unique_ptr<Permit> permit = permitted(body.size());
  if (services_.permits != nullptr && permit == nullptr) {
    Outcome given_up;
    given_up.kind = FailureKind::cancelled;
    return given_up;
  }
  http::Response response = send(http_request(body), asked, progress);
  // Before anything reads it: what is cut short later must not keep half a key.
  redact(response, target_.key);
  Outcome outcome = judge(*protocol_, response, target_.stream, asked, services_.clock->wall());
  if (outcome.completion)
    finish_completion(*outcome.completion, target_, body.size());
  else if (response.status == 200 && !response.body.empty()) {
    outcome.lost = target_.stream ? produced_ : response.body.size();
    outcome.partial = redact(partial_output(response.body), target_.key);
  }
  if (exchange != nullptr) {
    exchange->path = redact(path_of(url()), target_.key);
    exchange->tries.push_back(recorded(*protocol_,
                                       redact(body, target_.key),
                                       response,
                                       outcome.completion ? "ok" : std::string(name(outcome.kind)),
                                       target_.key));
    exchange->request = exchange->tries.back().request;
    exchange->response = exchange->tries.back().response;
  }
  if (permit != nullptr) {
    note_size(outcome, body.size());
    outcome.paused =
        permit->settle(end_of(outcome, first_try_, host_and_port(http::public_url(url()))));
  }
  return outcome;
}

std::unique_ptr<Permit> HttpEndpoint::permitted(std::size_t bytes) {
  if (services_.permits == nullptr)
    return nullptr;
  // From the last prompt as the endpoint counted it, and what was added since.
  const double added =
      (static_cast<double>(bytes) - static_cast<double>(known_bytes_)) / kBytesPerToken;
  const double tokens = std::max(0.0, static_cast<double>(known_tokens_) + added);
  const double before = services_.clock->monotonic();
  auto permit =
      services_.permits->take({static_cast<std::int64_t>(std::ceil(tokens)), max_output_});
  limited_ += services_.clock->monotonic() - before;
  return permit;
}

void HttpEndpoint::note_size(const Outcome& outcome, std::size_t bytes) {
  if (outcome.completion && !outcome.completion->usage.estimated) {
    known_bytes_ = bytes;
    known_tokens_ = outcome.completion->usage.input;
  }
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
  const bool large = never_fits(outcome.error);
  // The code may say what the message does not.
  const std::string next =
      large ? "lower max_tokens of this model, [agent] max_turns or tool_output_context_max_chars"
            : advice(outcome.kind, outcome.error.message + " " + outcome.error.code);
  out.text = util::Message{http::public_url(url()), what, next}.text();
  out.retry = repeatable(outcome);
  out.retry_after = outcome.asked.value_or(0);
  out.configuration = large || is_configuration(outcome.kind);
  out.attempts = std::move(attempts);
  return out;
}

Attempt HttpEndpoint::attempt_of(const Outcome& outcome,
                                 std::size_t request_bytes,
                                 double seconds,
                                 double waited) const {
  Attempt out;
  out.status = outcome.status;
  out.outcome = outcome.completion ? "ok" : std::string(name(outcome.kind));
  out.detail =
      util::head_and_tail(redact(util::printable(outcome.error.message), target_.key), kMaxDetail);
  out.seconds = seconds;
  out.waited = waited;
  out.partial = util::head_and_tail(outcome.partial, kMaxPartial);
  if (outcome.lost) {
    out.lost_input = static_cast<std::int64_t>(request_bytes / 4);
    out.lost_output = static_cast<std::int64_t>(*outcome.lost / 4);
  }
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
  if (exchange != nullptr)
    *exchange = {};
  std::vector<Attempt> attempts;
  double waited = 0;
  double held_back = 0;  // seconds slept for rate limits of a sweep: no part of the deadline
  int refusals = 0;
  Tries tries(retry_);
  max_output_ = settings.max_output_tokens;
  first_try_ = true;
  limited_ = 0;
  const double start = services_.clock->monotonic();
  for (;;) {
    const Json request = protocol_->request(target_, conversation, tools, settings, adaptation_);
    const std::string body = dump(request);
    // On a clock that stands still while a permit is waited for.
    const double before = services_.clock->monotonic() - limited_;
    const double limited = limited_;
    Outcome outcome = attempt(body, protocol_->asked(request, target_.profile), progress, exchange);
    const double now = services_.clock->monotonic() - limited_;
    waited += limited_ - limited;
    first_try_ = false;
    attempts.push_back(attempt_of(outcome, body.size(), now - before, waited));
    if (outcome.completion) {
      answered_ = true;
      outcome.completion->attempts = std::move(attempts);
      flag_changes(adaptation_, target_.profile, settings, *outcome.completion);
      return std::move(*outcome.completion);
    }
    waited = 0;
    if (outcome.kind == FailureKind::bad_request &&
        learn(adaptation_, outcome.status, outcome.error, request, target_.profile))
      continue;
    refusals =
        outcome.kind == FailureKind::not_an_endpoint || outcome.status == 403 ? refusals + 1 : 0;
    if (outcome.paused && refusals < (answered_ ? kRefusalsLater : kRefusalsFirst))
      continue;
    if (outcome.bad_encoding && !std::exchange(plain_bodies_, true))
      continue;
    const auto delay = tries.next(outcome, now - start - held_back, backoff_);
    if (!delay)
      return failure(outcome, std::move(attempts));
    if (!wait(*delay, outcome.kind)) {
      outcome.kind = FailureKind::cancelled;
      return failure(outcome, std::move(attempts));
    }
    waited = *delay;
    held_back +=
        services_.permits != nullptr && outcome.kind == FailureKind::rate_limited ? *delay : 0;
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
                          protocol_->asked(request.value_or(Json::object()), target_.profile),
                          services_.clock->wall());
  if (!outcome.completion)
    return failure(outcome, {});
  finish_completion(*outcome.completion, target_, exchange.request.size());
  return std::move(*outcome.completion);
}

}  // namespace

std::unique_ptr<Endpoint> connect(Target target, Retry retry, Services services) {
  check_url(target.base_url);
  if (services.clock == nullptr)
    throw util::InfraError({"endpoint", "no clock was given", ""}, "E_ENDPOINT_SETUP");
  // Without a bound a dead peer would hold a conversation for ever.
  const http::Limits defaults;
  for (const auto clock : {&http::Limits::connect,
                           &http::Limits::first_byte,
                           &http::Limits::idle,
                           &http::Limits::total})
    if ((target.limits.*clock).count() <= 0)
      target.limits.*clock = defaults.*clock;
  const http::Route route = http::environment_route(target.base_url);
  for (const auto part : {&http::Route::proxy, &http::Route::no_proxy, &http::Route::ca_file})
    if ((target.route.*part).empty())
      target.route.*part = route.*part;
  return std::make_unique<HttpEndpoint>(std::move(target), retry, std::move(services));
}

}  // namespace sweep::endpoint
