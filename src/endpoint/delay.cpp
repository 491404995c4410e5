#include "endpoint/failure.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>

namespace sweep::endpoint {
namespace {

// A figure of seconds: finite and not negative.
std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() ||
      !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

// The figure at the front of `rest`, which loses it.
std::optional<double> take_number(std::string_view& rest) {
  std::size_t digits = 0;
  while (digits < rest.size() &&
         (std::isdigit(static_cast<unsigned char>(rest[digits])) != 0 || rest[digits] == '.'))
    ++digits;
  std::string_view figure = rest.substr(0, digits);
  if (figure.ends_with('.'))
    figure.remove_suffix(1);
  rest.remove_prefix(digits);
  return number(figure);
}

// "... try again in 20s", "... retry after 3 seconds", "Please retry in 1m30s"
std::optional<double> words_of_delay(std::string_view message) {
  std::string words(message.substr(0, 4096));
  std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  for (const std::string_view cue :
       {"try again in ", "try again after ", "retry after ", "retry in ", "retry-after: "}) {
    const auto at = words.find(cue);
    if (at == std::string::npos)
      continue;
    std::string_view rest = std::string_view(words).substr(at + cue.size());
    double total = 0;
    bool any = false;
    while (const auto value = take_number(rest)) {
      any = true;
      rest = util::trim(rest);
      const bool milli = rest.starts_with("ms") || rest.starts_with("milli");
      total += *value * (milli                   ? 0.001
                         : rest.starts_with("m") ? 60
                         : rest.starts_with("h") ? 3600
                                                 : 1);
      // "1m30s" goes on; "20 seconds" does not.
      rest.remove_prefix(std::min<std::size_t>(milli ? 2 : 1, rest.size()));
    }
    if (any)
      return total;
  }
  return std::nullopt;
}

// "2025-01-31T12:34:56Z", with or without a fraction.
std::optional<double> parse_iso_time(std::string_view text) {
  const std::string copy(util::trim(text));
  std::tm parts{};
  const char* end = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr)
    return std::nullopt;
  while (*end == '.' || std::isdigit(static_cast<unsigned char>(*end)) != 0)
    ++end;
  return std::string_view(end) == "Z" ? std::optional(static_cast<double>(timegm(&parts)))
                                      : std::nullopt;
}

// Seconds from `now` of a reset header: a duration, a time in ISO form, or a time in seconds or
// milliseconds since 1970.
std::optional<double> until_reset(std::string_view text, double now) {
  constexpr double kTimes = 1e9;  // larger figures are times, not durations
  constexpr double kMillis = 1e12;
  auto value = parse_duration(text);
  if (!value) {
    value = parse_iso_time(text);
    return value ? std::optional(*value - now) : std::nullopt;
  }
  if (*value >= kTimes)
    return (*value >= kMillis ? *value / 1000 : *value) - now;
  return value;
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  text = util::trim(text);
  if (const auto plain = number(text))
    return plain;
  if (text.empty())
    return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const auto value = take_number(text);
    const std::string_view unit = text.starts_with("ms") ? "ms" : text.substr(0, 1);
    if (!value || (unit != "ms" && unit != "s" && unit != "m" && unit != "h" && unit != "d"))
      return std::nullopt;
    total += *value * (unit == "ms"  ? 0.001
                       : unit == "s" ? 1
                       : unit == "m" ? 60
                       : unit == "h" ? 3600
                                     : 86400);
    text.remove_prefix(unit.size());
  }
  return total;
}

std::optional<double> parse_http_date(std::string_view text) {
  const std::string copy(util::trim(text));
  for (const char* format :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm parts{};
    const char* end = strptime(copy.c_str(), format, &parts);
    if (end != nullptr && *end == 0)
      return static_cast<double>(timegm(&parts));
  }
  return std::nullopt;
}

std::optional<double> retry_after(const http::Response& response,
                                  std::string_view message,
                                  double wall_now) {
  const auto own = response.header("date");
  const double now = own ? parse_http_date(*own).value_or(wall_now) : wall_now;
  if (const auto ms = response.header("retry-after-ms"))
    if (const auto value = number(util::trim(*ms)))
      return *value / 1000;
  if (const auto header = response.header("retry-after")) {
    if (const auto value = number(util::trim(*header)))
      return value;
    if (const auto date = parse_http_date(*header); date && *date >= now)
      return *date - now;
  }
  std::optional<double> reset;
  for (const char* key : {"x-ratelimit-reset-requests",
                          "x-ratelimit-reset-tokens",
                          "x-rate-limit-reset-tokens",
                          "x-ratelimit-reset",
                          "ratelimit-reset"})
    if (const auto header = response.header(key))
      if (const auto value = until_reset(*header, now))
        reset = std::max(reset.value_or(0), *value);
  // 0 and times past mean that nothing is known.
  if (reset && *reset > 0)
    return reset;
  return words_of_delay(message);
}

}  // namespace sweep::endpoint
