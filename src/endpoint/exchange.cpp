#include "endpoint/exchange.h"

#include "endpoint/protocol.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxHeaders = 64;
constexpr std::size_t kMaxHeaderValue = 1024;

std::string lower_name(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

// Headers that carry credentials or sessions, by their meaning and not by a value we know.
bool secret_header(std::string_view name) {
  constexpr std::array<std::string_view, 9> names = {"authorization",
                                                     "api-key",
                                                     "x-api-key",
                                                     "proxy-authorization",
                                                     "proxy-authenticate",
                                                     "cookie",
                                                     "set-cookie",
                                                     "set-cookie2",
                                                     "x-goog-api-key"};
  return std::find(names.begin(), names.end(), lower_name(name)) != names.end();
}

// The text that a body's events or escapes make, whether it is complete or not.
std::string assembled(const Protocol& protocol, std::string_view body) {
  const std::string_view text = util::trim(body);
  if (text.starts_with('{') || text.starts_with('[')) {
    auto document = parse_json(text);
    if (!document)
      return {};
    restore(*document);
    return dump(*document);
  }
  SseParser parser;
  const auto assembler = protocol.assembler({});
  const auto sink = [&](const SseEvent& event) { assembler->add(event); };
  parser.feed(body, sink);
  parser.finish(sink);
  Json document = assembler->take();
  restore(document);
  return dump(document);
}

}  // namespace

bool redact(http::Response& response, const Secret& key) {
  if (key.empty())
    return false;
  bool found = false;
  const auto clean = [&](std::string& text) {
    std::string without = redact(text, key);
    found = found || without != text;
    text = std::move(without);
  };
  clean(response.body);
  if (found)
    response.arrivals.clear();
  for (http::Header& header : response.headers) {
    clean(header.name);
    clean(header.value);
  }
  return found;
}

std::string recorded_body(const Protocol& protocol,
                          const http::Response& response,
                          const Secret& key) {
  if (key.empty())
    return response.body;
  const std::string text = assembled(protocol, response.body);
  std::string without = redact(text, key);
  return without == text ? response.body : without;
}

Try recorded(const Protocol& protocol,
             std::string request,
             const http::Response& response,
             std::string outcome,
             const Secret& key) {
  Try out;
  out.request = std::move(request);
  out.status = response.status;
  for (const http::Header& header : response.headers) {
    if (out.headers.size() == kMaxHeaders)
      break;
    out.headers.push_back({util::printable(header.name.substr(0, kMaxHeaderValue)),
                           secret_header(header.name)
                               ? "[filtered]"
                               : util::printable(header.value.substr(0, kMaxHeaderValue))});
  }
  out.response = recorded_body(protocol, response, key);
  if (out.response == response.body)
    out.arrivals = response.arrivals;
  out.first_byte_seconds = response.first_byte_seconds;
  out.seconds = response.seconds;
  out.outcome = std::move(outcome);
  if (response.fault)
    out.fault = std::string(http::name(response.fault->fault));
  return out;
}

std::string path_of(std::string_view url) {
  const auto scheme = url.find("://");
  const auto slash = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::string_view path =
      slash == std::string_view::npos ? std::string_view("/") : url.substr(slash);
  return std::string(path.substr(0, path.find('#')));
}

std::string instead_of_origin(std::string_view url, const std::string& instead) {
  return instead + path_of(url);
}

}  // namespace sweep::endpoint
