#include "http/url.h"

#include "http/client.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <optional>

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

constexpr std::string_view kUnixScheme = "http+unix://";

// "%2F" and the like; nullopt for a broken escape or a zero byte.
std::optional<std::string> decoded(std::string_view text) {
  if (text.empty())
    return std::string();
  int size = 0;
  char* plain = curl_easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &size);
  if (plain == nullptr)
    return std::nullopt;
  std::string out(plain, static_cast<std::size_t>(size));
  curl_free(plain);
  if (out.find('\0') != std::string::npos)
    return std::nullopt;
  return out;
}

}  // namespace

UnixAddress unix_address(std::string_view url) {
  if (!url.starts_with(kUnixScheme))
    return {};
  url.remove_prefix(kUnixScheme.size());
  const auto end = std::min(url.find_first_of("/?#"), url.size());
  return {decoded(url.substr(0, end)).value_or(""),
          "http://localhost" + std::string(url.substr(end))};
}

std::string url_problem(const std::string& url) {
  if (const UnixAddress socket = unix_address(url); !socket.url.empty())
    return socket.path.starts_with('/')
               ? url_problem(socket.url)
               : "no socket path: write http+unix://%2Frun%2Fmodel.sock/v1";
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
  if (const UnixAddress socket = unix_address(url); !socket.url.empty())
    return std::string(url.substr(0, url.find_first_of("/?#", kUnixScheme.size()))) +
           public_url(socket.url).substr(std::string_view("http://localhost").size());
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
