#pragma once

#include "endpoint/client.h"

#include <string>
#include <string_view>

namespace sweep::endpoint {

// base + path, in front of a query string if there is one (Azure's api-version). Slashes at the
// base's end and a pasted "/chat/completions" or "/responses" go. "/v1" is never added.
[[nodiscard]] std::string join_url(const std::string& base, std::string_view path);

// The URL that a target's requests go to: what its profile puts in front of `path` (for Chat
// Completions, unless the base names it or a deployment already) and its query (unless the base
// sets the same one).
[[nodiscard]] std::string request_url(const Target& target, std::string_view path);

// Throws util::UsageError E_ENDPOINT_URL unless it is http or https with a host and without a user
// name or password.
void check_url(const std::string& url);

}  // namespace sweep::endpoint
