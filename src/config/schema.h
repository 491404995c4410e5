#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::config {

// One key that a configuration may hold.
struct Key {
  std::string_view table;  // "run", "agent", "harness.NAME", "parallelism", "report", "models",
                           // "models.sampling", "models.price", "models.price.tiers",
                           // "models.endpoint", "prices"
  std::string_view name;
  std::string_view type;      // as shown in messages: "a whole number"
  std::string_view fallback;  // default as written, or "required"
  std::string_view meaning;
  // Not empty: the key is understood and means nothing here; the text says what happens instead.
  std::string_view instead = {};
};

[[nodiscard]] std::span<const Key> keys();

// Null if the table has no such key.
[[nodiscard]] const Key* find_key_of(std::string_view table, std::string_view name);

// Table of a key that stands in another one than it should; empty: nowhere.
[[nodiscard]] std::string_view home_of(std::string_view name);

[[nodiscard]] std::vector<std::string> names_of(std::string_view table);

}  // namespace sweep::config
