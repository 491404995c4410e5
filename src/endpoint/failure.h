#pragma once

#include "endpoint/client.h"
#include "endpoint/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace sweep::endpoint {

// What an endpoint says went wrong, in whichever of the usual shapes: {"error":{..}},
// {"error":"text"},
// [{"error":..}], {"detail":..}, {"message":..}, {"errors":[..]}, HTML or plain text.
struct WireError {
  std::string message;
  std::string code;  // error.code as text
  std::string type;
  std::string param;
  int status = 0;  // status named inside the body: 0 none
};

// The error inside a JSON body; nullopt when it has none.
[[nodiscard]] std::optional<WireError> error_in(const Json& body);

// From a body that is an error because of its status, whatever it holds; the message is at most 300
// bytes and a line that says how many are left out.
[[nodiscard]] WireError error_from_body(std::string_view body);

// Kind of failure of an answer with this status (200 for errors inside a stream or a 200 body).
// `delay_asked`: the answer names a time after which to try again.
[[nodiscard]] FailureKind classify(int status, const WireError& error, bool delay_asked = false);
[[nodiscard]] FailureKind classify(const http::TransportFault& fault);

// Do these words (in lower case) say that the conversation is too long for the model, and not that
// a rate was exceeded?
[[nodiscard]] bool is_overflow(std::string_view words);

// Does it say that this one request takes more tokens than a minute's limit holds, so that no wait
// lets it through?
[[nodiscard]] bool never_fits(const WireError& error);

// May the same request succeed later?
[[nodiscard]] bool retryable(FailureKind kind);

// Would any other request to this target fail alike?
[[nodiscard]] bool is_configuration(FailureKind kind);

// Seconds to wait as the endpoint asked, from the first of these that is usable: Retry-After-Ms,
// Retry-After (seconds, or an HTTP date against the answer's own Date, else `wall_now`), the
// largest of the reset headers, words in the message. What is negative, past, not finite or not
// understood counts as not said. nullopt: nothing usable.
[[nodiscard]] std::optional<double> retry_after(const http::Response& response,
                                                std::string_view message,
                                                double wall_now);

// Seconds since 1970 of an IMF-fixdate, RFC 850 or asctime date; nullopt otherwise.
[[nodiscard]] std::optional<double> parse_http_date(std::string_view text);

// "1m30s", "500ms", "2.5s", "1d", "7" in seconds; nullopt otherwise.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);

// Ends the advice where a probe can say more.
inline constexpr std::string_view kSeeProbe = ", see `sweep probe FILE`";

// Advice for a person, by kind.
[[nodiscard]] std::string_view advice(FailureKind kind);

// The same where the endpoint's own words say more than the kind. Holds no "; ".
[[nodiscard]] std::string advice(FailureKind kind, std::string_view message);

// Whether an endpoint says that it has no model of this name.
[[nodiscard]] bool names_no_model(std::string_view message);

}  // namespace sweep::endpoint
