#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::endpoint {

// Key order is kept: replayed messages stay as they came and prompt caches stay warm.
using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 128;

// Walks over the brackets and braces of JSON text that stand outside its strings: after each `at`
// is told how many are open and where it stands, and ends the walk by true. The text may be
// anything.
template <class At>
void walk_brackets(std::string_view text, const At& at) {
  std::int64_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
      continue;
    }
    in_string = in_string != (c == '"');
    const bool opens = !in_string && (c == '{' || c == '[');
    const bool closes = !in_string && (c == '}' || c == ']');
    depth += (opens ? 1 : 0) - (closes ? 1 : 0);
    if ((opens || closes) && at(depth, i))
      return;
  }
}

// Parses text from outside. Bytes that are no UTF-8 are carried through as private code points
// until restore() is called on the finished strings, so that a character split over two chunks
// survives; lone surrogate escapes become U+FFFD. nullopt: no JSON, or nested deeper than
// kMaxJsonDepth.
[[nodiscard]] std::optional<Json> parse_json(std::string_view bytes);

// Puts the carried bytes of parse_json back in every string and key, then replaces what is still
// ill-formed by U+FFFD.
void restore(Json& json);
[[nodiscard]] std::string restore(std::string_view text);

// Compact JSON text; ill-formed strings are replaced, never thrown about.
[[nodiscard]] std::string dump(const Json& json);

// Members by name, with a default for absent, null and wrongly typed ones.
[[nodiscard]] const Json* member(const Json& object, std::string_view key);  // null: absent or null
[[nodiscard]] std::string text_at(const Json& object, std::string_view key);
[[nodiscard]] std::int64_t integer_at(const Json& object,
                                      std::string_view key,
                                      std::int64_t absent = -1);

}  // namespace sweep::endpoint
