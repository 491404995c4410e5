#include "http/client.h"
#include "http/url.h"

#include <cstdlib>
#include <initializer_list>

namespace sweep::http {
namespace {

// The first of the variables that is set and not empty.
std::string variable(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value != 0)
      return value;
  return {};
}

}  // namespace

Route environment_route(std::string_view url) {
  Route route;
  // HTTP_PROXY in capitals is not read: in a CGI program it would be a request's header.
  route.proxy = url.starts_with("https:")
                    ? variable({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                    : variable({"http_proxy", "all_proxy", "ALL_PROXY"});
  route.no_proxy = variable({"no_proxy", "NO_PROXY"});
  route.ca_file = variable({"SSL_CERT_FILE", "CURL_CA_BUNDLE"});
  return route;
}

std::string direct_hosts(const Route& route) {
  const std::string loopback = "localhost,127.0.0.0/8,::1";
  // "*" means all only where it stands alone.
  if (route.no_proxy.empty() || route.no_proxy == "*")
    return route.no_proxy.empty() ? loopback : route.no_proxy;
  return route.no_proxy + "," + loopback;
}

}  // namespace sweep::http
