#pragma once

#include "endpoint/client.h"

#include <string>

namespace sweep::config {
struct Model;
}

namespace sweep::endpoint {

// How a configured model is reached at `base_url` (the built-in server's, for a scripted one) with
// `key`: its API, profile and time limits. util::UsageError E_ENDPOINT_PROFILE.
[[nodiscard]] Target target_of(const config::Model& model, std::string base_url, Secret key);

}  // namespace sweep::endpoint
