#pragma once

#include "endpoint/client.h"
#include "endpoint/json.h"

#include <string>
#include <string_view>

namespace sweep::endpoint {

class Protocol;

// Takes the key out of an answer's body and headers; true when it was there. Arrival times of a
// changed body are dropped, since their byte counts no longer fit.
bool redact(http::Response& response, const Secret& key);

// The body for the record. Where only the text that a stream's events (or escapes) put together
// shows the key, that is the redacted document in place of the bytes.
[[nodiscard]] std::string recorded_body(const Protocol& protocol,
                                        const http::Response& response,
                                        const Secret& key);

// One try of `response`, which holds no key in the open; `outcome` as in Attempt.
[[nodiscard]] Try recorded(const Protocol& protocol,
                           std::string request,
                           const http::Response& response,
                           std::string outcome,
                           const Secret& key);

// Path and query of an http(s) URL, "/" at least.
[[nodiscard]] std::string path_of(std::string_view url);

// `url` with "http://host:port/prefix" in place of its scheme, host and port.
[[nodiscard]] std::string instead_of_origin(std::string_view url, const std::string& instead);

}  // namespace sweep::endpoint
