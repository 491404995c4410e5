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
