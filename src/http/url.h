#pragma once

#include <string>

namespace sweep::http {

// Why a request must not go to this URL; empty: it may. Only http and https, no user name, no
// password. public_url() is in client.h.
[[nodiscard]] std::string url_problem(const std::string& url);

}  // namespace sweep::http
