#include "http/url.h"

#include "http/client.h"

#include <curl/curl.h>

#include <memory>

namespace sweep::http {
namespace {

struct FreeUrl {
  void operator()(CURLU* handle) const { curl_url_cleanup(handle); }
};

// One part of a URL; empty when absent.
std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK)
    return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

std::unique_ptr<CURLU, FreeUrl> parse_url(std::string_view url) {
  std::unique_ptr<CURLU, FreeUrl> handle(curl_url());
  const std::string text(url);
  if (!handle || curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
    return nullptr;
  return handle;
}

}  // namespace

std::string url_problem(const std::string& url) {
  const auto handle = parse_url(url);
  if (!handle)
    return "not a URL";
  const std::string scheme = part(handle.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return "scheme '" + scheme + "' is neither http nor https";
  if (!part(handle.get(), CURLUPART_USER).empty() ||
      !part(handle.get(), CURLUPART_PASSWORD).empty())
    return "user name or password in the URL; keys belong into api_key_env";
  return {};
}

std::string public_url(std::string_view url) {
  const auto handle = parse_url(url);
  if (!handle)
    return "(no URL)";
  std::string text =
      part(handle.get(), CURLUPART_SCHEME) + "://" + part(handle.get(), CURLUPART_HOST);
  if (const std::string port = part(handle.get(), CURLUPART_PORT); !port.empty())
    text += ":" + port;
  return text + part(handle.get(), CURLUPART_PATH);
}

}  // namespace sweep::http
