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

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

// `path` with the model's id in place of {model}.
std::string filled(std::string path, std::string_view model) {
  constexpr std::string_view hole = "{model}";
  if (const auto at = path.find(hole); at != std::string::npos)
    path.replace(at, hole.size(), percent_encoded(model));
  while (path.ends_with('/'))
    path.pop_back();
  return path.empty() || path.starts_with('/') ? path : "/" + path;
}

// What of `prefix` the end of `base` does not hold yet, by whole segments: ".../openai" takes only
// "/deployments/D" of "/openai/deployments/D".
std::string_view missing(std::string_view base, std::string_view prefix) {
  for (std::size_t end = prefix.size(); end > 0; end = prefix.rfind('/', end - 1))
    if (base.ends_with(prefix.substr(0, end)))
      return prefix.substr(end);
  return prefix;
}

}  // namespace

std::string join_url(const std::string& base, std::string_view path) {
  const auto query = base.find('?');
  return trimmed_base(base.substr(0, query)) + std::string(path) +
         (query == std::string::npos ? std::string() : base.substr(query));
}

std::string request_url(const Target& target, std::string_view path) {
  const Profile& profile = target.profile;
  const auto query_at = target.base_url.find('?');
  const std::string base = trimmed_base(target.base_url.substr(0, query_at));
  std::string url = base;
  if (target.api == Api::chat && base.find("/deployments/") == std::string::npos) {
    const std::string prefix = filled(profile.path, target.model);
    url += missing(base, prefix);
  }
  url += path;
  std::string query =
      query_at == std::string::npos ? std::string() : target.base_url.substr(query_at + 1);
  const std::string key = profile.query.substr(0, profile.query.find('='));
  if (!key.empty() && ("&" + query).find("&" + key + "=") == std::string::npos)
    query += (query.empty() ? "" : "&") + profile.query;
  return url + (query.empty() ? "" : "?" + query);
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
