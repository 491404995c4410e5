#pragma once

#include "http/client.h"

#include <string>
#include <string_view>

namespace sweep::http {

// Why a request must not go to this URL; empty: it may. Only http, https and http+unix, no user
// name, no password. public_url() is in client.h.
[[nodiscard]] std::string url_problem(const std::string& url);

// A "http+unix://%2Fpath/v1" URL: the socket's path and the URL that goes over it
// ("http://localhost/v1"). Both empty for other URLs.
struct UnixAddress {
  std::string path;
  std::string url;
};

[[nodiscard]] UnixAddress unix_address(std::string_view url);

// libcurl's list of hosts without a proxy: the route's and every loopback address.
[[nodiscard]] std::string direct_hosts(const Route& route);

}  // namespace sweep::http
