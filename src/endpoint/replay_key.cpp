#include "endpoint/json.h"
#include "endpoint/replay_server.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kShown = 60;  // characters of an excerpt

std::string excerpt(std::string_view text, std::size_t at) {
  const std::size_t from = at > kShown / 3 ? at - kShown / 3 : 0;
  const bool more = text.size() > from + kShown;
  return "\"" + std::string(from > 0 ? "..." : "") +
         util::printable(util::to_valid_utf8(text.substr(from, kShown))) + (more ? "..." : "") +
         "\"";
}

std::string at_character(std::string_view recorded, std::string_view now) {
  const auto [a, b] = std::mismatch(recorded.begin(), recorded.end(), now.begin(), now.end());
  const auto at = static_cast<std::size_t>(a - recorded.begin());
  (void)b;
  return " at character " + std::to_string(at) + ": recorded " + excerpt(recorded, at) + ", now " +
         excerpt(now, at);
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

std::string compare(const Json& recorded, const Json& now, const std::string& path);

std::string compare_objects(const Json& recorded, const Json& now, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [key, value] : recorded.items()) {
    const auto other = now.find(key);
    if (other == now.end())
      return prefix + key + ": not sent now";
    if (std::string found = compare(value, *other, prefix + key); !found.empty())
      return found;
  }
  for (const auto& [key, value] : now.items())
    if (!recorded.contains(key))
      return prefix + key + ": not in the recorded request";
  return (path.empty() ? "the body" : path) + ": keys in another order";
}

std::string compare_lists(const Json& recorded, const Json& now, const std::string& path) {
  const std::size_t both = std::min(recorded.size(), now.size());
  for (std::size_t i = 0; i < both; ++i)
    if (std::string found = compare(recorded[i], now[i], path + "[" + std::to_string(i) + "]");
        !found.empty())
      return found;
  return (path.empty() ? "" : path + ": ") + "recorded " + std::to_string(recorded.size()) +
         " entries, now " + std::to_string(now.size());
}

// Where two documents differ first, in the order of the recorded one; empty: nowhere.
std::string compare(const Json& recorded, const Json& now, const std::string& path) {
  if (recorded == now)
    return {};
  if (recorded.is_object() && now.is_object())
    return compare_objects(recorded, now, path);
  if (recorded.is_array() && now.is_array())
    return compare_lists(recorded, now, path);
  return path + at_character(text_of(recorded), text_of(now));
}

}  // namespace

std::string replay_key(std::string_view path, std::string_view body) {
  const auto document = parse_json(body);
  if (!document || !document->is_object())
    return std::string(path) + "\n" + std::string(body);
  nlohmann::json sorted = *document;
  for (const char* name : {"metadata", "user", "prompt_cache_key", "stream_options"})
    sorted.erase(name);
  return std::string(path) + "\n" +
         sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string first_difference(std::string_view recorded, std::string_view now) {
  if (recorded == now)
    return {};
  const auto before = parse_json(recorded);
  const auto after = parse_json(now);
  if (before && after)
    if (std::string found = compare(*before, *after, ""); !found.empty())
      return found;
  return "the body" + at_character(recorded, now);
}

}  // namespace sweep::endpoint
