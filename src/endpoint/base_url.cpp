#include "endpoint/base_url.h"

#include "http/client.h"
#include "util/error.h"

namespace sweep::endpoint {
namespace {

// "…/v1", whatever was pasted: slashes at the end and the operation's own path go.
std::string trimmed_base(std::string url) {
  const auto drop_slashes = [&] {
    while (url.ends_with('/'))
      url.pop_back();
  };
  drop_slashes();
  for (const std::string_view tail : {"/chat/completions", "/responses"})
    if (url.ends_with(tail))
      url.resize(url.size() - tail.size());
  drop_slashes();
  return url;
}

}  // namespace

std::string join_url(const std::string& base, std::string_view path) {
  const auto query = base.find('?');
  return trimmed_base(base.substr(0, query)) + std::string(path) +
         (query == std::string::npos ? std::string() : base.substr(query));
}

void check_url(const std::string& url) {
  const auto scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end == std::string::npos ? 0 : scheme_end);
  const std::string authority =
      url.substr(scheme.size() + 3 > url.size() ? url.size() : scheme.size() + 3,
                 url.find('/', scheme.size() + 3) - scheme.size() - 3);
  const bool known = scheme == "http" || scheme == "https" ||
                     (scheme == "http+unix" && authority.starts_with("%2F"));
  if (!known || authority.empty())
    throw util::UsageError({"base_url",
                            "'" + http::public_url(url) + "' is not an http or https URL",
                            "write e.g. https://host/v1, or http+unix://%2Frun%2Fmodel.sock/v1"},
                           "E_ENDPOINT_URL");
  if (authority.find('@') != std::string::npos)
    throw util::UsageError({"base_url",
                            "holds a user name or password",
                            "put the key into the variable that api_key_env names"},
                           "E_ENDPOINT_URL");
}

}  // namespace sweep::endpoint
