#pragma once

#include "endpoint/conversation.h"
#include "endpoint/profile.h"
#include "http/client.h"
#include "record/item_services.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::util {
class Clock;
}

namespace sweep::endpoint {

enum class Api { chat, responses };

// A key or token. Cannot be printed; wiped when destroyed.
class Secret {
 public:
  Secret() = default;

  explicit Secret(std::string value) : value_(std::move(value)) {}

  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  [[nodiscard]] bool empty() const { return value_.empty(); }

  // For the one header that needs it.
  [[nodiscard]] const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

// Every occurrence of the secret (raw, JSON-escaped, URL-encoded, base64, also as a part of a
// longer base64 text) becomes "[key]". Secrets under 8 bytes are not searched for.
[[nodiscard]] std::string redact(std::string text, const Secret& secret);

// Where and how one model is reached.
struct Target {
  Api api = Api::chat;
  std::string base_url;  // ".../v1"; a pasted ".../chat/completions" or ".../responses" is accepted
  std::string model;     // deployment name on the wire
  Secret key;            // empty: no Authorization header
  Profile profile;       // how the server bends the protocol
  bool stream = true;
  bool send_reasoning = true;  // Responses: ask for reasoning summaries and encrypted reasoning
  http::Limits limits;
  http::Route route{};  // what is empty comes from the environment (http::environment_route)
  // Replay: "http://127.0.0.1:PORT/PREFIX" stands on the wire in place of base_url's scheme, host
  // and port; all that base_url decides stays as it is.
  std::string instead{};
};

// Sampling and bounds of one request; what is not set is not sent.
struct Settings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> max_output_tokens;
  std::string reasoning_effort;
  bool tool_required = false;  // tool_choice "required"
  std::string extra_json;      // object whose members are added to the request body; ours win
};

struct Retry {
  int max_attempts = 5;            // tries per request that fail otherwise than by a rate limit
  int max_rate_limited = 0;        // tries per request that a rate limit refuses; 0: any number
  int max_cut_retries = 3;         // repeats of an answer that broke off
  int max_protocol_retries = 2;    // repeats of a 200 that held no answer
  double first_delay = 1.0;        // seconds; doubles each time
  double max_delay = 60.0;         // cap of our own delay
  double max_retry_after = 120.0;  // a longer Retry-After is a failure
  double deadline = 3600.0;        // seconds for the request, its retries and waits
  std::uint64_t jitter_seed = 0;
};

// Why a request has no completion. The class decides what the caller may do.
enum class FailureKind {
  rate_limited,      // 429 that outlasted the policy
  overloaded,        // 5xx, 408, 409, 425, 529
  transport,         // no connection, cut stream, timeout
  protocol,          // 200 with something that is not an answer
  context_overflow,  // the conversation is too long
  content_filter,    // the provider refused
  answer_too_large,  // more than http::Limits::max_body, or an event of more than kMaxEventBytes
  quota,             // money or quota is gone
  authentication,    // 401, 403
  bad_request,       // other 4xx: our request or the configuration
  not_an_endpoint,   // 404, redirect, HTML where JSON belongs
  cancelled,
};

[[nodiscard]] std::string_view name(FailureKind kind);

// One try on the wire.
struct Attempt {
  int status = 0;
  std::string outcome;  // "ok" or a FailureKind name
  std::string detail;   // bounded, redacted
  double seconds = 0;
  double waited = 0;  // seconds slept before this try
  // Of a try whose answer had begun and was lost, which is charged all the same: estimated tokens.
  // -1: nothing was charged, or the answer counts.
  std::int64_t lost_input = -1;
  std::int64_t lost_output = -1;
  // What the model had said in such an answer; bounded, redacted.
  std::string partial{};
};

struct EndpointFailure {
  FailureKind kind = FailureKind::protocol;
  int status = 0;
  std::string text;            // what happened and what to do; bounded, key redacted
  bool retry = false;          // true: the same request may succeed later (policy was exhausted)
  double retry_after = 0;      // seconds the endpoint asked for; 0: nothing said
  bool configuration = false;  // true: no other request to this target will do better
  std::vector<Attempt> attempts;
};

// Streaming progress: characters so far of text, reasoning and arguments. Called on the caller's
// thread.
struct Progress {
  std::size_t text = 0;
  std::size_t reasoning = 0;
  std::size_t arguments = 0;
  // The end of what was said so far, to be shown: at most 2 * kShown bytes each, cut anywhere.
  // Holds no key.
  std::string text_end{};
  std::string reasoning_end{};

  static constexpr std::size_t kShown = std::size_t{32} << 10U;
};

struct Completion {
  Message message;  // speaker assistant
  Finish finish = Finish::other;
  std::string finish_raw;  // as the endpoint said it
  Usage usage;
  std::string model;  // as the endpoint named it
  std::string id;
  std::string request_id;          // x-request-id or alike, for support
  std::vector<std::string> flags;  // "reasoning_only", "model_mismatch", "tool_markup_in_text",
                                   // "param_dropped:temperature", ...
  std::vector<Attempt> attempts;
  double seconds = 0;  // last try, without waits
  double first_byte_seconds = 0;
};

// One try as it went over the wire, for the record. Holds no key, also none that the endpoint sent
// back.
struct Try {
  std::string request{};                  // JSON body
  int status = 0;                         // 0: no answer
  std::vector<http::Header> headers{};    // of the answer, bounded; secrets are "[filtered]"
  std::string response{};                 // body as decoded, as far as it came
  std::vector<http::Arrival> arrivals{};  // empty when a key had to be taken out of the body
  double first_byte_seconds = 0;
  double seconds = 0;     // until the answer's end
  std::string outcome{};  // as in Attempt
  std::string fault{};    // http::name of a transport fault; empty: none
};

// What goes over the wire: the bodies of the try that counted, and every try.
struct Exchange {
  std::string request{};   // JSON body; holds no key
  std::string response{};  // body bytes (of SSE as well), key redacted
  std::string path{};      // of the URL, with its query
  std::vector<Try> tries{};
};

// Limits that all requests to a model share. `take` blocks, for every try; null: the wait was given
// up, and the request ends as cancelled. What it waits is no part of any deadline or latency.
using Permit = record::ItemServices::Permit;

class Permits {
 public:
  virtual ~Permits() = default;
  [[nodiscard]] virtual std::unique_ptr<Permit> take(const record::Need& need) = 0;
};

using OnProgress = std::function<void(const Progress&)>;

// One model behind one base URL. One thread at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Sends the conversation and returns the answer, after as many tries as the policy allows.
  // `exchange`, when given, is filled on success and on failure. Never throws for what the endpoint
  // does.
  [[nodiscard]] virtual std::variant<Completion, EndpointFailure> complete(
      const Conversation& conversation,
      const std::vector<ToolDefinition>& tools,
      const Settings& settings,
      const OnProgress& progress = {},
      Exchange* exchange = nullptr) = 0;

  // The answer that a recorded exchange held: replay on resume, no network.
  [[nodiscard]] virtual std::variant<Completion, EndpointFailure> parse(
      const Exchange& exchange) const = 0;
};

struct Services {
  util::Clock* clock = nullptr;  // required
  Permits* permits = nullptr;    // may be null
  http::Cancelled cancelled;     // may be empty
  // Told before each wait: what for (a FailureKind name) and how long. May be empty.
  std::function<void(const std::string& why, double seconds)> waiting;
};

// `target` is checked: util::UsageError (E_ENDPOINT_URL) for a base_url that is not http(s) or
// holds credentials.
[[nodiscard]] std::unique_ptr<Endpoint> connect(Target target, Retry retry, Services services);

}  // namespace sweep::endpoint
